import { fromJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { EffectStatus } from "../../src/gen/piworkflows/common/v1/effect_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { SourcePolicy } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import { NOTE_BYTES_MAX } from "../../src/host/limits.ts";
import { pruneRuns } from "../../src/host/operations/retention.ts";
import { command, rejected, startHandlers } from "../support/handler-rig.ts";
import type { HandlerRig } from "../support/handler-rig.ts";
import { putRun } from "../support/records.ts";
import { COMPLETE, OK } from "../support/test-worker.ts";

const PLACE = { workflow: "hub", projectDir: "/project" };
const value = (json: JsonValue): Value => fromJson(ValueSchema, json);

async function prune({ rig }: HandlerRig): Promise<void> {
  rig.at.clock.advance(1);
  await pruneRuns(rig.host, rig.asked("Prune"), { olderThanMs: 0, dryRun: false });
}

describe("a command on a run", () => {
  test("takes the beginning of an id, and says which runs it could mean", async () => {
    const { runs, rig } = startHandlers();
    const first = await rig.admit();
    const second = await rig.admit();
    let shared = 0;
    while (first[shared] === second[shared]) shared += 1;
    const { run } = await runs.pauseRun({ command: command(), runId: first.slice(0, shared + 1) });
    expect(run).toMatchObject({ runId: first, status: RunStatus.PAUSED });
    const call = runs.pauseRun({ command: command(), runId: first.slice(0, shared) });
    expect(await rejected(call)).toMatchObject({
      reason: Reason.RUN_NOT_FOUND,
      names: [first, second].toSorted(),
    });
  });

  test.each(["", "…", "...", "run_", "run_…"])(
    "takes the end of an id, with %j before it",
    async (before) => {
      const { runs, rig } = startHandlers();
      const runId = await rig.admit();
      await rig.admit();
      const { run } = await runs.getRun({ runId: `${before}${runId.slice(-8)}` });
      expect(run?.summary?.runId).toBe(runId);
    },
  );

  test("takes no end of an id that several have, and names them", async () => {
    const { runs, rig } = startHandlers();
    const ids = await rig.host.store.write("put", (tx) =>
      ["run_01aaaaaa9xyzw", "run_01bbbbbb9xyzw"].map((runId) => putRun(tx, { runId }).runId),
    );
    const refusal = await rejected(runs.getRun({ runId: "9xyzw" }));
    expect(refusal).toMatchObject({ reason: Reason.RUN_NOT_FOUND, names: ids });
    expect(refusal.message).toContain("fits several run ids");
    const short = await rejected(runs.getRun({ runId: "…yzw" }));
    expect(short.message).toContain("at least 4 characters of the beginning or the end");
  });

  test("tells of effects whose outcome nobody knows since", async () => {
    const { runs, rig } = startHandlers();
    const worker = await rig.running("deploy");
    await worker.act();
    const { runId } = worker;
    const { run } = await runs.getRun({ runId });
    expect(run?.summary?.ambiguousEffects).toBe(0);
    const cancelled = await runs.cancelRun({ command: command(), runId });
    expect(cancelled.run).toMatchObject({ status: RunStatus.CANCELLED, ambiguousEffects: 1 });
  });

  test.each(["../../etc/passwd", "run_%", "run_' OR 1=1 --", "--help", "\u001B[31m"])(
    "finds no run by %j",
    async (runId) => {
      const { runs, rig } = startHandlers();
      await rig.admit();
      const refusal = await rejected(runs.cancelRun({ command: command(), runId }));
      expect(refusal.reason).toBe(Reason.RUN_NOT_FOUND);
    },
  );

  test("is refused when the run has moved on", async () => {
    const { runs, rig } = startHandlers();
    const runId = await rig.admit();
    const call = runs.pauseRun({ command: command("k", 7n), runId });
    expect(await rejected(call)).toMatchObject({
      reason: Reason.STALE_REVISION,
      runId,
      revision: 1n,
    });
    expect((await runs.pauseRun({ command: command("k", 1n), runId })).receipt?.revision).toBe(2n);
  });

  test("tells the state that forbids it", async () => {
    const { runs, rig } = startHandlers();
    const runId = await rig.admit();
    await runs.cancelRun({ command: command(), runId, note: "no longer needed" });
    const refusal = await rejected(runs.resumeRun({ command: command(), runId }));
    expect(refusal).toMatchObject({ reason: Reason.ILLEGAL_TRANSITION, state: "cancelled" });
    expect((await runs.getRun({ runId })).run?.summary?.detail).toBe("no longer needed");
  });

  test("bounds its note", async () => {
    const { runs, rig } = startHandlers();
    const runId = await rig.admit();
    const note = "x".repeat(NOTE_BYTES_MAX + 1);
    const call = runs.cancelRun({ command: command(), runId, note });
    expect((await rejected(call)).reason).toBe(Reason.LIMIT_EXCEEDED);
  });

  test("is answered from its receipt after the run has been pruned", async () => {
    const handlers = startHandlers();
    const { runs, rig } = handlers;
    const runId = await rig.admit();
    const first = await runs.cancelRun({ command: command("k"), runId });
    await prune(handlers);
    expect((await rejected(runs.getRun({ runId }))).reason).toBe(Reason.RUN_NOT_FOUND);
    const again = await runs.cancelRun({ command: command("k"), runId });
    expect(again.receipt).toEqual({ ...first.receipt, outcome: Outcome.ADOPTED });
    expect(again.run).toBeUndefined();
  });
});

describe("ResumeRun", () => {
  test("loads the file as it is now to accept it, with the run's own input", async () => {
    const { runs, rig, resolver } = startHandlers();
    const runId = await rig.admit();
    await runs.pauseRun({ command: command(), runId });
    const { run } = await runs.resumeRun({
      command: command("k"),
      runId,
      sourcePolicy: SourcePolicy.ACCEPT,
    });
    expect(run?.status).toBe(RunStatus.QUEUED);
    expect(resolver.loads).toMatchObject([
      { workflowPath: "/project/hub.workflow.ts", inputJson: '{"to":"end"}' },
    ]);
    expect(resolver.discarded).toBe(1);
    expect(rig.events(runId)).toContain("sources_accepted");
    await runs.resumeRun({ command: command("k"), runId, sourcePolicy: SourcePolicy.ACCEPT });
    expect(resolver.loads).toHaveLength(1);
  });

  test("loads nothing to go on with the recorded bytes", async () => {
    const { runs, rig, resolver } = startHandlers();
    const runId = await rig.admit();
    await runs.pauseRun({ command: command(), runId });
    await runs.resumeRun({ command: command(), runId, sourcePolicy: SourcePolicy.RECORDED });
    expect(rig.run(runId).useRecorded).toBe(true);
    expect(resolver.loads).toEqual([]);
  });
});

describe("RestartRun", () => {
  test("admits a new run from the old one's file and input, and keeps the lineage", async () => {
    const { runs, rig, resolver } = startHandlers();
    const oldRun = await rig.admit({ inputJson: '{"to":"hub"}', priority: 5 });
    await runs.cancelRun({ command: command(), runId: oldRun });
    const { receipt } = await runs.restartRun({ command: command("k"), runId: oldRun });
    const runId = receipt?.runId ?? "";
    expect(runId).not.toBe(oldRun);
    expect(rig.run(runId)).toMatchObject({
      restartedFrom: oldRun,
      priority: 5,
      workflowPath: "/project/hub.workflow.ts",
      input: { json: '{"to":"hub"}' },
    });
    expect(resolver.offers).toEqual([runId]);
    const again = await runs.restartRun({ command: command("k"), runId: oldRun });
    expect(again.receipt).toMatchObject({ outcome: Outcome.ADOPTED, runId });
  });
});

describe("ResolveEffect", () => {
  test("settles what a person knows, and its run goes on", async () => {
    const { effects, rig } = startHandlers();
    const worker = await rig.running("deploy");
    const { effectId } = await worker.act();
    await rig.lose(worker);
    const [listed] = (await effects.listEffects({ statuses: [EffectStatus.AMBIGUOUS] })).effects;
    expect(listed).toMatchObject({ effectId, runId: worker.runId, applications: 1 });
    const { effect } = await effects.resolveEffect({
      command: command(),
      effectId,
      resolution: Resolution.APPLIED,
      output: value({ id: 7 }),
    });
    expect(effect?.status).toBe(EffectStatus.APPLIED);
    expect(worker.run.status).toBe("queued");
  });

  test("says so when the output is no JSON", async () => {
    const { effects } = startHandlers();
    const output = { kind: { case: "numberValue" as const, value: Number.POSITIVE_INFINITY } };
    const call = effects.resolveEffect({ command: command(), effectId: "eff_1234", output });
    expect((await rejected(call)).reason).toBe(Reason.REQUEST_INVALID);
  });

  test("needs to be told what became of it", async () => {
    const { effects, rig } = startHandlers();
    const worker = await rig.running("deploy");
    const { effectId } = await worker.act();
    await rig.lose(worker);
    const call = effects.resolveEffect({ command: command(), effectId });
    expect((await rejected(call)).reason).toBe(Reason.REQUEST_INVALID);
  });
});

describe("a fault of ours", () => {
  test("is logged once under the id that the caller is told", async () => {
    const { runs, rig, resolver, faults } = startHandlers();
    const broken = new Error("with a secret in it");
    resolver.find = () => {
      throw broken;
    };
    await expect(runs.startRun({ command: command(), ...PLACE })).rejects.toThrow(
      "internal error err_1; the host's log has more under it",
    );
    expect(faults).toEqual([broken]);
    expect(rig.reader.runs.lastPosition()).toBe(0);
  });
});

describe("the whole of a run", () => {
  test("passes through the services", async () => {
    const { runs, rig } = startHandlers();
    const { receipt } = await runs.startRun({ command: command(), ...PLACE, input: value(1) });
    const worker = await rig.relaunch(receipt?.runId ?? "");
    await worker.advance(OK, { kind: "next", node: "end", retry: false });
    await worker.advance(OK, COMPLETE);
    const { run } = await runs.getRun({ runId: worker.runId });
    expect(run?.summary?.status).toBe(RunStatus.COMPLETED);
    expect(run?.result).toEqual(value("done"));
  });
});
