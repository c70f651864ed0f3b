import { describe, expect, test } from "vitest";
import { resumeRun } from "../../src/host/operations/runs.ts";
import type { AcceptedSource } from "../../src/host/operations/resume.ts";
import type { GraphRecord } from "../../src/host/records.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { reasonOf, refusal } from "../support/refusal.ts";
import { pause, resume } from "../support/scenes.ts";
import { HUB_GRAPH, hubAt, TestRig } from "../support/test-host.ts";
import { COMPLETE, next, OK, retry } from "../support/test-worker.ts";
import { FAILED } from "../support/test-worker.ts";

function accept(rig: TestRig, runId: string, change: Partial<AcceptedSource> = {}) {
  const accepted = { graph: HUB_GRAPH, sources: [source("export {};")], title: "", ...change };
  const request = { runId, sourcePolicy: "accept" as const, accepted };
  return rig.sound(resumeRun(rig.host, rig.asked("ResumeRun"), request));
}

function source(text: string) {
  const content = new TextEncoder().encode(text);
  const file = { path: "/project/hub.workflow.ts", kind: "file" as const, size: content.length };
  return { ...file, digest: sha256Hex(text), content };
}

function without(path: string): GraphRecord {
  return {
    ...HUB_GRAPH,
    nodes: HUB_GRAPH.nodes.filter((node) => node.path !== path),
    edges: HUB_GRAPH.edges.filter((edge) => edge.from !== path),
  };
}

/** A run that went hub → flaky (twice) → end, and was paused there. */
async function travelled(): Promise<{ rig: TestRig; runId: string }> {
  const rig = new TestRig();
  const worker = await rig.running("hub");
  await worker.advance(OK, next("flaky"));
  await worker.advance(FAILED, retry("flaky"));
  await worker.advance(OK, next("end"));
  await pause(rig, worker.runId);
  return { rig, runId: worker.runId };
}

describe("a resume that accepts changed sources", () => {
  test("replaces sources, graph and title, and tells so in an event of its own", async () => {
    const { rig, runId } = await travelled();
    const graph = { ...HUB_GRAPH, maxSteps: 99 };
    await accept(rig, runId, { graph, title: "Hub, mended" });
    expect(rig.run(runId)).toMatchObject({ status: "queued", title: "Hub, mended" });
    expect(rig.reader.runs.graph(runId)).toEqual(graph);
    expect(rig.run(runId).graphDigest).toBe(sha256Hex(JSON.stringify(graph)));
    expect(rig.reader.sources.ofRun(runId)).toMatchObject([{ digest: sha256Hex("export {};") }]);
    expect(rig.events(runId).slice(-2)).toEqual(["sources_accepted", "resume"]);
    const worker = await rig.relaunch(runId);
    await worker.advance(OK, COMPLETE);
  });

  test("takes the workflow's name for a title that is empty", async () => {
    const { rig, runId } = await travelled();
    await accept(rig, runId, { graph: { ...HUB_GRAPH, name: "hub2" } });
    expect(rig.run(runId)).toMatchObject({ title: "hub2", workflow: "hub2" });
  });

  test("lets everything change that the run has not visited", async () => {
    const { rig, runId } = await travelled();
    await accept(rig, runId, { graph: without("mail") });
    expect(rig.run(runId).status).toBe("queued");
  });

  test.each<[string, GraphRecord, string]>([
    ["a visited node is gone", without("flaky"), "node flaky is gone"],
    [
      "a visited node is of another kind",
      {
        ...HUB_GRAPH,
        nodes: HUB_GRAPH.nodes.map((node) =>
          node.path === "flaky" ? { ...node, kind: "shell" } : node,
        ),
      },
      "node flaky was a compute node and is a shell node",
    ],
    ["the node it is at is gone", without("end"), "node end is gone"],
    [
      "an edge it took leads elsewhere",
      {
        ...HUB_GRAPH,
        edges: HUB_GRAPH.edges.map((edge) =>
          edge.from === "flaky" ? { from: "flaky", to: "ask" } : edge,
        ),
      },
      "no edge leads from flaky to end",
    ],
    ["it begins elsewhere", hubAt("ask"), "the run began at hub, the workflow now begins at ask"],
  ])("is refused when %s", async (_what, graph, misfit) => {
    const { rig, runId } = await travelled();
    const before = rig.run(runId);
    const error = await refusal(accept(rig, runId, { graph }));
    expect(error.reason).toBe("SOURCE_CHANGED");
    expect(error.details.names).toContain(misfit);
    expect(error.message).toContain(misfit);
    expect(rig.run(runId)).toEqual(before);
    expect(rig.reader.runs.graph(runId)).toEqual(HUB_GRAPH);
  });

  test("checks the edge to a node that was only decided on", async () => {
    const rig = new TestRig();
    const worker = await rig.running("deploy");
    const { effectId } = await worker.act();
    await pause(rig, worker.runId);
    await worker.advance({ ...OK, effect: { effectId, kind: "applied" } }, next("end"));
    expect(rig.reader.attempts.newest(worker.runId)?.node).toBe("deploy");
    const edges = [{ from: "deploy", to: "ask" }];
    const graph = { ...hubAt("deploy"), edges };
    const error = await refusal(accept(rig, worker.runId, { graph }));
    expect(error.details.names).toEqual(["no edge leads from deploy to end"]);
    await accept(rig, worker.runId, { graph: hubAt("deploy") });
  });

  test("may begin a run elsewhere that has not begun", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    await pause(rig, runId);
    await accept(rig, runId, { graph: hubAt("ask") });
    expect(rig.run(runId).node).toBe("ask");
  });

  test("needs something to accept", async () => {
    const { rig, runId } = await travelled();
    const request = { runId, sourcePolicy: "accept" as const };
    const resumed = resumeRun(rig.host, rig.asked("ResumeRun"), request);
    expect(await reasonOf(resumed)).toBe("REQUEST_INVALID");
  });
});

describe("a resume with the recorded sources", () => {
  const recorded = { sourcePolicy: "recorded" as const };

  test("is remembered for every later launch, and told once", async () => {
    const { rig, runId } = await travelled();
    await rig.sound(resumeRun(rig.host, rig.asked("ResumeRun"), { runId, ...recorded }));
    expect(rig.run(runId).useRecorded).toBe(true);
    await pause(rig, runId);
    await rig.sound(resumeRun(rig.host, rig.asked("ResumeRun"), { runId, ...recorded }));
    expect(rig.events(runId).filter((kind) => kind === "sources_recorded")).toHaveLength(1);
    await pause(rig, runId);
    await resume(rig, runId);
    expect(rig.run(runId).useRecorded).toBe(true);
  });

  test("ends when other sources are accepted", async () => {
    const { rig, runId } = await travelled();
    await rig.sound(resumeRun(rig.host, rig.asked("ResumeRun"), { runId, ...recorded }));
    await pause(rig, runId);
    await accept(rig, runId);
    expect(rig.run(runId).useRecorded).toBe(false);
  });
});
