import { describe, expect, test } from "vitest";
import { advance, verdict } from "../../src/host/operations/attempts.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { TestRig } from "../support/test-host.ts";
import { reasonOf, refusal } from "../support/refusal.ts";
import {
  COMPLETE,
  FAIL,
  FAILED,
  FAILURE,
  next,
  OK,
  retry,
  TIMED_OUT,
} from "../support/test-worker.ts";

describe("a run from its admission to its end", () => {
  test("moves through every status with one event each", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    expect(worker.run).toMatchObject({ status: "running", boundary: 1, generation: 1 });

    const ack = await worker.advance(OK, next("end"));
    expect(ack).toMatchObject({ boundary: 2, attempt: 1, visit: 1, parked: false });
    expect(worker.run).toMatchObject({ node: "end", steps: 2, boundary: 2 });

    expect(await worker.advance(OK, COMPLETE)).toEqual({ boundary: 3, parked: true });
    expect(worker.run).toMatchObject({ status: "completed", result: { json: '"done"' } });
    expect(worker.run.finishedAt).toBe(rig.at.clock.now());
    expect(rig.events(worker.runId)).toEqual(["admit", "launch", "attach", "advance", "finish"]);
  });

  test("counts visits of a loop apart from its steps", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await worker.advance(OK, next("hub"));
    await worker.advance(OK, next("hub"));
    expect(worker.run).toMatchObject({ node: "hub", visit: 3, steps: 3 });
    const attempts = rig.reader.attempts.lastOfRun(worker.runId, 10);
    expect(attempts.map(({ visit, attempt }) => [visit, attempt])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });

  test.each([
    ["failed", FAILED, FAIL],
    ["timed_out", TIMED_OUT, { ...FAIL, outcome: "timed_out" as const }],
  ])("ends %s with the error", async (status, result, end) => {
    const rig = new TestRig();
    const worker = await rig.running("end");
    await worker.advance(result, end);
    expect(worker.run).toMatchObject({ status, error: FAILURE });
    expect(worker.run.result).toBeUndefined();
  });

  test("may end failed although the attempt was ok, and without an error of its own", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await worker.advance(OK, { kind: "end", outcome: "failed" });
    expect(worker.run.error?.message).toBe("the run failed without an error");
  });

  test("has null for a result that nobody gave", async () => {
    const rig = new TestRig();
    const worker = await rig.running("end");
    await worker.advance(OK, { kind: "end", outcome: "ok" });
    expect(worker.run.result).toEqual({ json: "null" });
  });

  test("keeps payloads out of its events", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub", { inputJson: '"payload-in"' });
    await worker.advance({ outcome: "ok", outputJson: '"payload-out"' }, next("end"));
    await worker.advance(OK, { kind: "end", outcome: "ok", resultJson: '"payload-end"' });
    const events = JSON.stringify(rig.reader.events.ofRun(worker.runId, 0, 100));
    expect(events).not.toContain("payload");
    expect(events).not.toContain(worker.proof.tokenHash);
  });
});

describe("a proposal", () => {
  test("that is repeated gets the stored answer, also after its run is parked", async () => {
    const rig = new TestRig();
    const worker = await rig.running("end");
    const { place, number } = worker;
    const proposal = { ...place, result: OK, follow: COMPLETE };
    const first = await worker.advance(OK, COMPLETE);
    const again = await rig.sound(advance(rig.host, worker.proof, number + 1, proposal));
    expect(again).toEqual(first);
    expect(rig.events(worker.runId).filter((kind) => kind === "finish")).toHaveLength(1);
  });

  test("for another boundary is refused", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const proposal = { ...worker.place, expectedBoundary: 7, result: OK, follow: next("end") };
    const error = await refusal(advance(rig.host, worker.proof, 9, proposal));
    expect(error.reason).toBe("STALE_REVISION");
    expect(error.details.revision).toBe(worker.run.revision);
  });

  test("of another attempt than the running one is refused", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const proposal = { ...worker.place, attemptId: "att_other", result: OK, follow: next("end") };
    expect(await reasonOf(advance(rig.host, worker.proof, 9, proposal))).toBe("ILLEGAL_TRANSITION");
  });

  test("without anything that follows is refused", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    expect(await reasonOf(worker.advance(OK))).toBe("REQUEST_INVALID");
  });

  test("without a result is refused while the attempt runs", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    expect(await reasonOf(worker.advance(undefined, next("end")))).toBe("ILLEGAL_TRANSITION");
  });

  test("leaves nothing behind when it is refused", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const before = worker.run;
    expect(await reasonOf(worker.advance(OK, next("nowhere")))).toBe("ILLEGAL_TRANSITION");
    expect(worker.run).toEqual(before);
    expect(rig.reader.attempts.open(worker.runId)?.status).toBe("running");
  });

  test("with a value over the limit is refused with both sizes", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const outputJson = JSON.stringify("x".repeat(8 * 1024 * 1024));
    const error = await refusal(worker.advance({ outcome: "ok", outputJson }, next("end")));
    expect(error.reason).toBe("LIMIT_EXCEEDED");
    expect(error.details).toMatchObject({ limit: 8_388_608, actual: 8_388_610 });
  });

  test("of exactly the largest value is taken", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const outputJson = JSON.stringify("x".repeat(8 * 1024 * 1024 - 2));
    await worker.advance({ outcome: "ok", outputJson }, next("end"));
    const attempt = rig.reader.attempts.newestOk(worker.runId, "hub");
    expect(rig.reader.values.read(attempt?.output ?? { json: "" })).toBe(outputJson);
  });

  test("has its error cut to a readable length", async () => {
    const rig = new TestRig();
    const worker = await rig.running("end");
    const error = { name: "Error", message: "m".repeat(20_000), stack: "s".repeat(20_000) };
    await worker.advance({ outcome: "failed", error }, { ...FAIL, error });
    const { message = "", stack = "" } = worker.run.error ?? {};
    expect(message).toMatch(/^m{16384} … \(20000 characters\)$/);
    expect(stack.length).toBeLessThan(17_000);
  });

  test("brings new sources into the run", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const text = "export {};";
    const file = {
      path: "/project/late.ts",
      kind: "file" as const,
      size: text.length,
      digest: sha256Hex(text),
      content: new TextEncoder().encode(text),
    };
    const folder = { path: "/project/node_modules/x", kind: "package" as const, size: 0 };
    const newSources = [file, { ...folder, packageName: "x", packageVersion: "1.0.0" }];
    const proposal = { ...worker.place, newSources, result: OK, follow: next("end") };
    await rig.sound(advance(rig.host, worker.proof, 9, proposal));
    expect(rig.reader.sources.ofRun(worker.runId)).toMatchObject([
      { path: "/project/late.ts", digest: file.digest },
      { packageName: "x", packageVersion: "1.0.0" },
    ]);
  });
});

describe("the edge that is taken", () => {
  test("must be in the stored graph", async () => {
    const rig = new TestRig();
    const worker = await rig.running("flaky");
    const error = await refusal(worker.advance(OK, next("hub")));
    expect(error.message).toBe("no edge leads from flaky to hub");
  });

  test("may be a switch's default", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await worker.advance(OK, next("end"));
    expect(worker.run.node).toBe("end");
  });

  test("must not lead past the limit of steps", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    for (let step = 1; step < 20; step += 1) await worker.advance(OK, next("hub"));
    expect(worker.run.steps).toBe(20);
    const error = await refusal(worker.advance(OK, next("end")));
    expect(error.reason).toBe("LIMIT_EXCEEDED");
    expect(error.details).toMatchObject({ limit: 20, actual: 21 });
    await worker.advance(OK, FAIL);
    expect(worker.run.status).toBe("failed");
  });

  test("forbids completion where one leaves the node", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    expect(await reasonOf(worker.advance(OK, COMPLETE))).toBe("ILLEGAL_TRANSITION");
  });

  test("forbids completion after a failed attempt", async () => {
    const rig = new TestRig();
    const worker = await rig.running("end");
    expect(await reasonOf(worker.advance(FAILED, COMPLETE))).toBe("ILLEGAL_TRANSITION");
  });
});

describe("another try", () => {
  test("is of the same visit and counts no step, until the tries are used up", async () => {
    const rig = new TestRig();
    const worker = await rig.running("flaky");
    await worker.advance(FAILED, retry("flaky"));
    const ack = await worker.advance(TIMED_OUT, retry("flaky"));
    expect(ack).toMatchObject({ visit: 1, attempt: 3 });
    expect(worker.run.steps).toBe(1);
    const error = await refusal(worker.advance(FAILED, retry("flaky")));
    expect(error.message).toBe("node flaky has no further try after 3 that failed");
    await worker.advance(FAILED, next("end"));
    expect(worker.run).toMatchObject({ node: "end", steps: 2 });
  });

  test("is refused after an attempt that is ok, and for a node without retry", async () => {
    const rig = new TestRig();
    const flaky = await rig.running("flaky");
    expect(await reasonOf(flaky.advance(OK, retry("flaky")))).toBe("ILLEGAL_TRANSITION");
    const hub = await rig.running("hub");
    expect(await reasonOf(hub.advance(FAILED, retry("hub")))).toBe("ILLEGAL_TRANSITION");
  });

  test("after a loss is told how many tries have failed", async () => {
    const rig = new TestRig();
    const first = await rig.running("flaky");
    await first.advance(FAILED, retry("flaky"));
    await rig.lose(first);
    const second = await rig.relaunch(first.runId);
    expect(second.begin).toMatchObject({ kind: "continue", attempt: 3, countedAttempts: 1 });
  });
});

describe("a verdict", () => {
  test.each(["failed", "timed_out"] as const)("of %s only routes afterwards", async (outcome) => {
    const rig = new TestRig();
    const worker = await rig.running("flaky");
    expect(await worker.judge(outcome)).toEqual({ outcome: "routed" });
    expect(worker.run).toMatchObject({ status: "queued", routing: true, activation: "verdict" });
    const successor = await rig.relaunch(worker.runId);
    expect(successor.begin).toMatchObject({
      kind: "verdict",
      attemptId: worker.attemptId,
      countedAttempts: 1,
    });
    await successor.advance(undefined, next("end"));
    expect(successor.run).toMatchObject({ node: "end", routing: false });
  });

  test("may be followed by another try", async () => {
    const rig = new TestRig();
    const worker = await rig.running("flaky");
    await worker.judge("timed_out");
    const successor = await rig.relaunch(worker.runId);
    expect(await successor.advance(undefined, retry("flaky"))).toMatchObject({ attempt: 2 });
  });

  test("comes too late for an attempt that has ended", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const { attemptId, proof } = worker;
    await worker.advance(OK, next("end"));
    const late = verdict(rig.host, { proof, attemptId, outcome: "failed", error: FAILURE });
    expect(await reasonOf(late)).toBe("ILLEGAL_TRANSITION");
    expect(worker.run.status).toBe("running");
  });
});
