/** A launch that shares the COMMIT of what queued its run, and a run that is attached by it. */
import { expect, test } from "vitest";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { InteractionKind } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { ActivationKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { RESOLVE_DEADLINE_MS } from "../../src/host/limits.ts";
import { answerCheckpoint } from "../../src/host/operations/interactions.ts";
import { newId } from "../../src/platform/ids.ts";
import { FakeWorker, json } from "../support/fake-worker.ts";
import { SchedulerRig, turns } from "../support/scheduler-rig.ts";
import { hubAt } from "../support/test-host.ts";

const EXITED = { cause: "exit", code: 0 } as const;
const WORKFLOW = { workflowPath: "/project/hub.workflow.ts", projectDir: "/project" };
const INSTALLED = "/project/node_modules/steps";
const SOURCE = { kind: "package", path: INSTALLED, size: 0, packageName: "steps" } as const;

/** Counts the COMMITs that changed the run. */
function commitsOf(rig: SchedulerRig, runId: string): () => number {
  let commits = 0;
  rig.store.subscribe(({ runIds }) => {
    if (runIds.includes(runId)) commits += 1;
  });
  return () => commits;
}

/** A run that waits for an answer, with nothing of its worker left. */
async function asking(rig: SchedulerRig): Promise<string> {
  const runId = await rig.admit({ graph: hubAt("ask"), sources: [SOURCE] });
  const worker = await rig.supervisor.worker();
  await worker.begins();
  worker.says({
    case: "interaction",
    value: { kind: InteractionKind.CHECKPOINT, summary: "Ship?", requestJson: json({}) },
  });
  await worker.hears("ack");
  worker.dies(EXITED);
  await rig.idle();
  return runId;
}

async function answer(rig: SchedulerRig, runId: string): Promise<void> {
  await answerCheckpoint(rig.host, rig.asked("AnswerCheckpoint"), {
    interactionId: rig.reader.interactions.open(runId)?.interactionId ?? "",
    answerJson: "true",
  });
}

function spareOf(rig: SchedulerRig): FakeWorker {
  rig.at.clock.advance(1_000);
  const spare = new FakeWorker(rig.at.clock, WORKFLOW);
  rig.supervisor.spares.push(spare);
  return spare;
}

test("a new run is admitted, launched and attached by one COMMIT", async () => {
  const rig = new SchedulerRig();
  const worker = new FakeWorker(rig.at.clock);
  const runId = newId("run");
  const commits = commitsOf(rig, runId);
  rig.scheduler.offer(runId, { worker, first: { timeoutMs: 5_000 } });
  await rig.admit({ runId, graph: hubAt("end") });
  expect(rig.events(runId)).toEqual(["admit", "launch", "attach"]);
  expect(commits()).toBe(1);
  const { begin } = await worker.hears("bootstrap");
  expect(begin).toMatchObject({ kind: ActivationKind.START, boundary: 1n });
  expect(rig.reader.attempts.open(runId)).toMatchObject({ node: "end", timeoutMs: 5_000 });
  expect(rig.supervisor.remembered).toEqual([WORKFLOW]);
  await worker.finishes();
  expect(rig.run(runId).status).toBe("completed");
});

test("the deadline of an attempt that was begun so is the host's to watch", async () => {
  const rig = new SchedulerRig();
  const worker = new FakeWorker(rig.at.clock);
  const runId = newId("run");
  rig.scheduler.offer(runId, { worker, first: { timeoutMs: 5_000 } });
  await rig.admit({ runId, graph: hubAt("end") });
  worker.heartbeat();
  await rig.seconds(8);
  expect(worker.signals).toContain("kill");
  expect(rig.events(runId)).toContain("verdict");
});

test("a worker that was attached so and never shows a sign of life is ended", async () => {
  const rig = new SchedulerRig();
  const worker = new FakeWorker(rig.at.clock);
  const runId = newId("run");
  rig.scheduler.offer(runId, { worker, first: {} });
  await rig.admit({ runId, graph: hubAt("end") });
  await rig.seconds(RESOLVE_DEADLINE_MS / 1_000 + 1);
  expect(worker.exit?.cause).toBe("killed");
  expect(rig.run(runId)).toMatchObject({ noProgress: 1 });
});

test("a deadline that the author computes is told by the worker", async () => {
  const rig = new SchedulerRig();
  const worker = new FakeWorker(rig.at.clock);
  const runId = newId("run");
  rig.scheduler.offer(runId, { worker });
  await rig.admit({ runId, graph: hubAt("end") });
  expect(rig.events(runId)).toEqual(["admit", "launch"]);
  expect((await worker.begins(7_000)).kind).toBe(ActivationKind.START);
  expect(rig.reader.attempts.open(runId)).toMatchObject({ timeoutMs: 7_000 });
});

test("a worker that is offered to a run without a place is let go", async () => {
  const rig = new SchedulerRig({ capacity: 1 });
  await rig.launched();
  const worker = new FakeWorker(rig.at.clock);
  const runId = newId("run");
  rig.scheduler.offer(runId, { worker, first: {} });
  await turns();
  expect(worker.signals).toEqual([]);
  await rig.admit({ runId });
  await turns();
  expect(worker.signals).toEqual(["stop RETIRED 2000"]);
  expect(rig.events(runId)).toEqual(["admit"]);
});

test("a worker whose run was not admitted is let go", async () => {
  const rig = new SchedulerRig();
  const worker = new FakeWorker(rig.at.clock);
  const runId = newId("run");
  rig.scheduler.offer(runId, { worker, first: {} });
  rig.scheduler.withdraw(runId);
  rig.scheduler.withdraw(runId);
  expect(worker.signals).toEqual(["stop RETIRED 2000"]);
});

test("an answer and the launch of a preloaded spare share a COMMIT", async () => {
  const rig = new SchedulerRig();
  const runId = await asking(rig);
  const spare = spareOf(rig);
  const commits = commitsOf(rig, runId);
  await answer(rig, runId);
  expect(commits()).toBe(1);
  expect(rig.events(runId).slice(-3)).toEqual(["settle", "launch", "attach"]);
  expect((await spare.hears("bootstrap")).begin?.kind).toBe(ActivationKind.ANSWERED);
  spare.says({ case: "advance", value: { follow: { case: "next", value: { node: "end" } } } });
  await spare.hears("ack");
  await spare.finishes();
  expect(rig.run(runId).status).toBe("completed");
});

test("a spare that loaded the file before it changed is not used", async () => {
  const rig = new SchedulerRig();
  const runId = await asking(rig);
  const spare = spareOf(rig);
  rig.changes.set(`${INSTALLED}/package.json`, rig.at.clock.now() + 1);
  await answer(rig, runId);
  expect(spare.signals).toEqual(["stop RETIRED 2000"]);
  const other = await rig.supervisor.worker();
  expect((await other.begins()).kind).toBe(ActivationKind.ANSWERED);
});

test("a spare that finds out only then has harmed nothing, and another one is asked", async () => {
  const rig = new SchedulerRig();
  const runId = await asking(rig);
  const spare = spareOf(rig);
  await answer(rig, runId);
  await spare.hears("bootstrap");
  spare.says({ case: "loadFailed", value: { reason: Reason.SOURCE_CHANGED, files: [INSTALLED] } });
  const other = await rig.supervisor.worker();
  expect(rig.supervisor.wishes.at(-1)).toMatchObject({ fresh: true });
  expect(rig.run(runId)).toMatchObject({ noProgress: 0 });
  expect((await other.begins()).kind).toBe(ActivationKind.ANSWERED);
});

test("a blank worker that cannot load what it was attached to blocks the run", async () => {
  const rig = new SchedulerRig();
  const worker = new FakeWorker(rig.at.clock);
  const runId = newId("run");
  rig.scheduler.offer(runId, { worker, first: {} });
  await rig.admit({ runId, graph: hubAt("end") });
  worker.says({ case: "loadFailed", value: { reason: Reason.SOURCE_CHANGED, files: ["/a.ts"] } });
  const run = await rig.reaches(runId, "blocked");
  expect(run).toMatchObject({ blockReason: "source_changed", changedFiles: ["/a.ts"] });
});

test("nothing is launched along while the host stops", async () => {
  const rig = new SchedulerRig();
  const runId = await asking(rig);
  const spare = spareOf(rig);
  const stopped = rig.stop(true);
  await answer(rig, runId);
  await stopped;
  expect(rig.run(runId).status).toBe("queued");
  expect(spare.boundTo).toBeUndefined();
});
