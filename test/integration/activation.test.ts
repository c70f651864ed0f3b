/**
 * The conversation with one worker. Its frames become transactions at once; the
 * answers come in order, and only after their commits.
 */
import { InteractionKind } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { describe, expect, test } from "vitest";
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { ClaimLoss, Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { SourceKind } from "../../src/gen/piworkflows/common/v1/source_pb.ts";
import { ActivationKind, StateKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import {
  AttemptOutcome,
  EffectOutcomeKind,
} from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import { GrantKind } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import { pauseRun, resumeRun } from "../../src/host/operations/runs.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { json } from "../support/fake-worker.ts";
import type { FrameBody } from "../support/fake-worker.ts";
import { SchedulerRig, turns } from "../support/scheduler-rig.ts";
import { hubAt } from "../support/test-host.ts";
import { advance, effectBegin, loadFailed } from "../support/worker-frames.ts";

describe("a worker that is given a run", () => {
  test("goes from the first node to the end, one event for each boundary", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    const begin = await worker.begins();
    expect(begin).toMatchObject({ kind: ActivationKind.START, attempt: 1, countedAttempts: 0 });
    await worker.advances("end");
    const ack = await worker.finishes();
    expect(ack.parked).toBe(true);
    worker.dies({ cause: "exit", code: 0 });
    await rig.idle();
    expect(rig.run(runId).status).toBe("completed");
    expect(rig.events(runId)).toEqual(["admit", "launch", "attach", "advance", "finish"]);
    expect(rig.reader.workers.newest(runId)).toMatchObject({
      exitCode: 0,
      endedAt: expect.any(Number) as unknown,
    });
  });

  test("is told all that the run has stored, one value in each frame", async () => {
    const rig = new SchedulerRig();
    const { runId, worker: first } = await rig.launched();
    await first.begins();
    await first.advances("hub", { output: { to: "ask" } });
    await first.advances("ask", { output: { to: "ask", again: true } });
    first.dies({ cause: "signal", signal: "SIGKILL" });
    const second = await rig.supervisor.worker();
    const bootstrap = await second.hears("bootstrap");
    expect(bootstrap).toMatchObject({
      runId,
      generation: 2,
      workflow: "hub",
      projectDir: "/project",
      node: "ask",
      visit: 1,
      steps: 3,
      stateFrames: 2,
      sourceFrames: 0,
      justResolved: false,
      inputDigest: sha256Hex('{"to":"end"}'),
    });
    const input = await second.hears("state");
    expect(input.kind).toBe(StateKind.INPUT);
    expect(Buffer.from(input.json).toString()).toBe('{"to":"end"}');
    const result = await second.hears("state");
    expect(result).toMatchObject({
      kind: StateKind.RESULT,
      node: "hub",
      visit: 2,
      attempt: 1,
      status: AttemptStatus.OK,
    });
    expect(Buffer.from(result.json).toString()).toBe('{"to":"ask","again":true}');
  });

  test("that runs recorded sources is told their bytes, and is a fresh one", async () => {
    const rig = new SchedulerRig();
    const content = Buffer.from("export default 1;");
    const digest = sha256Hex(content);
    const file = { path: "/project/hub.workflow.ts", kind: "file", digest, size: 17 } as const;
    const packaged = {
      path: "/project/node_modules/yaml",
      kind: "package",
      size: 0,
      packageName: "yaml",
      packageVersion: "2.9.1",
    } as const;
    const runId = await rig.admit({
      graph: hubAt("hub"),
      sources: [{ ...file, content }, packaged],
    });
    const first = await rig.supervisor.worker();
    await first.hears("bootstrap");
    first.says(loadFailed(Reason.SOURCE_CHANGED, "hub changed", [file.path]));
    await rig.reaches(runId, "blocked");
    expect(rig.run(runId)).toMatchObject({
      blockReason: "source_changed",
      changedFiles: [file.path],
    });
    await resumeRun(rig.host, rig.asked("ResumeRun"), { runId, sourcePolicy: "recorded" });
    first.dies({ cause: "exit", code: 0 });
    const second = await rig.supervisor.worker();
    expect(rig.supervisor.wishes.at(-1)).toMatchObject({ fresh: true });
    const bootstrap = await second.hears("bootstrap");
    expect(bootstrap).toMatchObject({ useRecorded: true, sourceFrames: 1 });
    expect(bootstrap.sources.map(({ kind }) => kind)).toEqual([
      SourceKind.FILE,
      SourceKind.PACKAGE,
    ]);
    const source = await second.hears("source");
    expect(source).toMatchObject({ path: file.path, digest });
    expect(Buffer.from(source.content).toString()).toBe("export default 1;");
  });

  test("is told again what it was told when it repeats a frame", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.begins();
    const place = { attemptId: worker.attemptId, expectedBoundary: worker.boundary };
    const first = await worker.advances("end");
    const number = worker.told.at(-1)?.inReplyTo ?? 0n;
    worker.says(advance("end"), { ...place, number });
    expect(await worker.hears("ack")).toEqual(first);
    expect(rig.events(runId).filter((kind) => kind === "advance")).toHaveLength(1);
  });

  test("has its frames answered in order, each after its commit", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched("deploy");
    await worker.begins();
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.store.hold = promise;
    const first = worker.says(effectBegin("manual"));
    const second = worker.says(effectBegin("manual"));
    await turns();
    expect(worker.told.some(({ inReplyTo }) => inReplyTo >= first)).toBe(false);
    rig.store.hold = undefined;
    resolve();
    await worker.hears("effect");
    await worker.hears("refused");
    const order = worker.told.map(({ inReplyTo }) => inReplyTo).filter((number) => number > 0n);
    expect(order.slice(-2)).toEqual([first, second]);
  });

  test("has a broken rule told and goes on with its claim", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("flaky");
    await worker.begins();
    worker.says(advance("hub"));
    const refused = await worker.hears("refused");
    expect(refused.reason).toBe(Reason.ILLEGAL_TRANSITION);
    expect(refused.message).toContain("no edge leads from flaky to hub");
    await worker.advances("end");
    await worker.finishes();
    expect(rig.run(runId).status).toBe("completed");
  });

  test.each([
    ["an empty frame", {}],
    ["a second hello", { case: "hello", value: {} }],
    ["a result without an outcome", { case: "advance", value: { result: {} } }],
    [
      "nothing that follows",
      {
        case: "advance",
        value: { result: { outcome: AttemptOutcome.OK, outputJson: json(1) } },
      },
    ],
    [
      "no UTF-8",
      {
        case: "interaction",
        value: { kind: InteractionKind.CHECKPOINT, requestJson: Uint8Array.of(0xff, 0xfe) },
      },
    ],
  ] as const)("is ended for %s, which harms its run no more than a crash", async (_, body) => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.begins();
    worker.says(body as FrameBody);
    const next = await rig.supervisor.worker();
    expect(worker.signals).toEqual(["kill"]);
    expect(rig.run(runId).noProgress).toBe(1);
    await next.begins();
    await next.advances("end");
    expect(rig.run(runId).noProgress).toBe(0);
  });
});

describe("a worker whose claim is gone", () => {
  test("is told once, in which way, and writes nothing", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    worker.obeys = false;
    await worker.begins();
    await pauseRun(rig.host, rig.asked("PauseRun"), { runId, now: false });
    const before = rig.events(runId);
    worker.says(advance("end"));
    worker.says(advance("end"));
    const lost = await worker.hears("lost");
    expect(lost.loss).toBe(ClaimLoss.MISSING_AUTHORITY);
    await turns();
    expect(worker.told.filter(({ body }) => body.case === "lost")).toHaveLength(1);
    expect(rig.events(runId)).toEqual(before);
    worker.dies({ cause: "exit", code: 0 });
    await rig.idle();
    expect(rig.run(runId).status).toBe("paused");
  });
});

describe("a worker that acts outside", () => {
  test("may act once the effect is stored as being applied", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("mail");
    await worker.begins();
    worker.says(effectBegin("idempotent"));
    const grant = await worker.hears("effect");
    expect(grant.kind).toBe(GrantKind.APPLY);
    expect(rig.reader.effects.get(grant.effectId)?.status).toBe("applying");
    worker.says({
      case: "advance",
      value: {
        result: {
          outcome: AttemptOutcome.OK,
          outputJson: json("sent"),
          effect: {
            effectId: grant.effectId,
            kind: EffectOutcomeKind.APPLIED,
            receiptJson: json({ id: 1 }),
          },
        },
        follow: { case: "next", value: { node: "end" } },
      },
    });
    await worker.hears("ack");
    expect(rig.reader.effects.get(grant.effectId)?.status).toBe("applied");
    expect(rig.run(runId).node).toBe("end");
  });

  test("parks its run when nobody knows the outcome of a manual effect", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched("deploy");
    await worker.begins();
    worker.says(effectBegin("manual"));
    const { effectId } = await worker.hears("effect");
    worker.says({
      case: "advance",
      value: {
        result: {
          outcome: AttemptOutcome.UNKNOWN,
          error: { name: "EffectUnknown", message: "no reply" },
          effect: { effectId, kind: EffectOutcomeKind.UNKNOWN, detail: "no reply" },
        },
      },
    });
    expect((await worker.hears("ack")).parked).toBe(true);
    worker.dies({ cause: "exit", code: 0 });
    await rig.idle();
    expect(rig.run(runId)).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });

  test("has its command ended with it, known from the moment it was told", async () => {
    const rig = new SchedulerRig();
    const { worker } = await rig.launched("deploy");
    await worker.begins();
    worker.says(effectBegin("manual"));
    const { effectId } = await worker.hears("effect");
    rig.store.trouble = "STORAGE_FULL";
    worker.says({ case: "effectProcess", value: { effectId, pid: 4_242, startTime: "77" } });
    worker.dies({ cause: "signal", signal: "SIGKILL" });
    await turns();
    expect(rig.supervisor.ended.at(-1)).toMatchObject({
      workerId: worker.id,
      pid: worker.pid,
      groups: [{ pid: 4_242, startTime: "77" }],
    });
    rig.store.trouble = undefined;
  });
});

describe("updates of a worker", () => {
  test("are written at most once a second, the newest of each node", async () => {
    const rig = new SchedulerRig();
    const { runId, worker } = await rig.launched();
    await worker.begins();
    const update = (text: string): void => {
      worker.says({ case: "progress", value: { node: "hub", text } });
    };
    for (const text of ["one", "two", "three"]) update(text);
    await turns();
    expect(rig.reader.progress.ofRun(runId).map(({ text }) => text)).toEqual(["one"]);
    await rig.seconds(1);
    expect(rig.reader.progress.ofRun(runId).map(({ text }) => text)).toEqual(["three"]);
    expect(rig.store.asked.filter((name) => name === "progress")).toHaveLength(2);
  });
});
