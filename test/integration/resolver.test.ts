/** Loading workflow files for a start or a check, with workers whose answers the test gives. */
import { describe, expect, test } from "vitest";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { SpawnFailed } from "../../src/host/supervisor/supervised-worker.ts";
import { FakeWorker, json } from "../support/fake-worker.ts";
import { ResolverRig, START, WANT, resolved, turn } from "../support/resolver-rig.ts";
import { HUB_GRAPH } from "../support/test-host.ts";
import { loadFailed } from "../support/worker-frames.ts";

const EDITED = "/project/helper.ts";

describe("a file that is loaded for a start", () => {
  test("comes with the worker that has it loaded", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    const worker = await rig.asked(0);
    const asked = await worker.hears("resolve");
    expect(asked).toMatchObject({ ...WANT, cacheDir: "/cache" });
    expect(Buffer.from(asked.inputJson).toString()).toBe('{"n":1}');
    worker.says(resolved({ inputJson: json({ n: 1, made: true }), title: "One" }));
    const resolution = await resolving;
    expect(resolution.worker).toBe(worker);
    expect(resolution.resolved).toMatchObject({
      graph: HUB_GRAPH,
      title: "One",
      inputJson: '{"n":1,"made":true}',
      sources: [{ path: WANT.workflowPath, kind: "file", size: 3 }],
      warnings: [{ message: "no edge leads to it", place: "nodes.lone" }],
    });
    expect(rig.clock.pending).toBe(0);
    expect(worker.signals).toEqual([]);
  });

  test("has the workflow's name for a title when it gives none", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).says(resolved({ title: "" }));
    expect((await resolving).resolved.title).toBe("hub");
  });

  test("and has problems is refused with all of them", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    const worker = await rig.asked(0);
    worker.says({
      case: "loadFailed",
      value: {
        reason: Reason.WORKFLOW_INVALID,
        message: "2 problems",
        problems: [
          { message: "no such node", place: "edges[0].to" },
          { message: "unexpected token", file: EDITED, line: 3, column: 7 },
        ],
      },
    });
    await expect(resolving).rejects.toMatchObject({
      reason: "WORKFLOW_INVALID",
      details: {
        problems: [
          { message: "no such node", place: "edges[0].to" },
          { message: "unexpected token", file: EDITED, line: 3, column: 7 },
        ],
      },
    });
    expect(worker.signals).toEqual(["stop RETIRED 2000"]);
  });

  test("and refuses the input is refused in its words", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).says(loadFailed(Reason.INPUT_INVALID, "n must be even"));
    await expect(resolving).rejects.toMatchObject({
      reason: "INPUT_INVALID",
      message: "n must be even",
    });
  });

  test("and was edited since a spare loaded it is loaded by another worker", async () => {
    const rig = new ResolverRig();
    rig.prepared.push(new FakeWorker(rig.clock, WANT));
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).says(loadFailed(Reason.SOURCE_CHANGED, "changed", [EDITED]));
    const second = await rig.asked(1);
    second.says(resolved());
    expect((await resolving).worker).toBe(second);
    expect(rig.wishes.map(({ fresh }) => fresh)).toEqual([false, true]);
    expect(rig.workers[0]?.signals).toEqual(["stop RETIRED 2000"]);
  });

  test("and changes while it is loaded is refused, not loaded for ever", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).says(loadFailed(Reason.SOURCE_CHANGED, "changed", [EDITED]));
    await expect(resolving).rejects.toMatchObject({
      reason: "SOURCE_CHANGED",
      details: { names: [EDITED] },
    });
  });
});

describe("a file that is only checked", () => {
  test("tells its warnings and keeps no worker", async () => {
    const rig = new ResolverRig();
    const inspecting = rig.resolver.inspect(WANT);
    const worker = await rig.asked(0);
    expect((await worker.hears("resolve")).inputJson).toHaveLength(0);
    worker.says(resolved());
    expect(await inspecting).toMatchObject({ kind: "resolved", resolved: { graph: HUB_GRAPH } });
    expect(worker.signals).toEqual(["stop RETIRED 2000"]);
  });

  test("tells its problems as an answer, not as a refusal", async () => {
    const rig = new ResolverRig();
    const inspecting = rig.resolver.inspect(WANT);
    (await rig.asked(0)).says(loadFailed(Reason.WORKFLOW_INVALID, "no start node"));
    expect(await inspecting).toMatchObject({
      kind: "failed",
      failure: { reason: "WORKFLOW_INVALID", problems: [{ message: "no start node" }] },
    });
  });
});

describe("many files at once", () => {
  test("are loaded two at a time, in the order in which they were asked for", async () => {
    const rig = new ResolverRig();
    const resolving = Array.from({ length: 5 }, () => rig.resolver.resolve(START));
    await turn();
    expect(rig.workers).toHaveLength(2);
    for (let index = 0; index < 5; index += 1) {
      (await rig.asked(index)).says(resolved());
      await resolving[index];
      await turn();
      expect(rig.workers).toHaveLength(Math.min(5, index + 3));
    }
  });

  test("are refused beyond those that may wait", async () => {
    const rig = new ResolverRig();
    const waiting = Array.from({ length: 258 }, () => rig.resolver.resolve(START));
    await expect(rig.resolver.resolve(START)).rejects.toMatchObject({
      reason: "LIMIT_EXCEEDED",
      details: { limit: 256, actual: 257 },
    });
    rig.resolver.stop();
    const settled = await Promise.allSettled([...waiting.slice(2), rig.resolver.resolve(START)]);
    const reasons = settled.map((one) => (one.status === "rejected" ? reasonOf(one.reason) : ""));
    expect(new Set(reasons)).toEqual(new Set(["HOST_STOPPING"]));
    for (const index of [0, 1]) (await rig.asked(index)).says(resolved());
    await Promise.all(waiting.slice(0, 2));
  });

  test("do not lose a place to one that could not be started", async () => {
    const rig = new ResolverRig();
    for (let number = 0; number < 3; number += 1) {
      rig.prepared.push(new SpawnFailed("spawn", "EAGAIN"));
      await expect(rig.resolver.resolve(START)).rejects.toThrow("EAGAIN");
    }
    rig.prepared.push(new SpawnFailed("stopping", "the host is stopping"));
    await expect(rig.resolver.resolve(START)).rejects.toMatchObject({ reason: "HOST_STOPPING" });
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).says(resolved());
    await resolving;
  });
});

function reasonOf(error: unknown): unknown {
  return (error as { readonly reason?: unknown }).reason;
}
