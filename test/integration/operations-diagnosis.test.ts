import { describe, expect, test } from "vitest";
import { diagnose, repair } from "../../src/host/diagnosis.ts";
import { arrange, SCENES } from "../support/scenes.ts";
import { TestRig } from "../support/test-host.ts";
import { next, OK } from "../support/test-worker.ts";
import { vandalise } from "../support/vandal.ts";
import { WRECKS } from "../support/wrecks.ts";

const RUNNING = "running";

async function wreck(name: string) {
  const made = WRECKS[name];
  if (made === undefined) throw new Error(`no wreck ${name}`);
  const rig = new TestRig();
  const sound = await arrange(rig, RUNNING);
  const runId = await arrange(rig, made.scene);
  vandalise(rig.at.path, runId, made.sql);
  return { rig, runId, sound, made };
}

const mend = (rig: TestRig, dryRun: boolean) => repair(rig.host, rig.asked("Repair"), { dryRun });

const names = (findings: readonly { invariant: string }[] | undefined): readonly string[] =>
  (findings ?? []).map((finding) => finding.invariant);

describe("a diagnosis", () => {
  test.each(Object.keys(SCENES))("finds nothing in a run that is %s", async (scene) => {
    const rig = new TestRig();
    await arrange(rig, scene);
    expect(diagnose(rig.reader)).toEqual([]);
  });

  test.each(Object.keys(WRECKS))("finds %s", async (name) => {
    const { rig, runId, sound, made } = await wreck(name);
    const findings = diagnose(rig.reader);
    expect(names(findings)).toEqual(made.found);
    expect(new Set(findings.map((finding) => finding.runId))).toEqual(new Set([runId]));
    expect(diagnose(rig.reader, { runId })).toEqual(findings);
    expect(diagnose(rig.reader, { runId: sound })).toEqual([]);
    expect(diagnose(rig.reader, { runId: "run_unknown" })).toEqual([]);
  });

  test.each([
    ["gone", "DELETE FROM blobs"],
    ["damaged", "UPDATE blobs SET bytes = CAST('other' AS BLOB)"],
  ])("finds a value whose bytes are %s", async (_how, sql) => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const outputJson = JSON.stringify("x".repeat(10_000));
    await worker.advance({ outcome: "ok", outputJson }, next("ask"));
    await worker.ask();
    vandalise(rig.at.path, worker.runId, [sql]);
    expect(names(diagnose(rig.reader))).toEqual(["blob_is_there"]);
  });

  test("looks at every run and stops at its limit", async () => {
    const rig = new TestRig();
    const runId = await rig.admit();
    const columns = "workflow, title, workflow_path, project_dir, status, revision, available_at";
    const rest = "mode, node, visit, steps, graph_json, graph_digest, input_json, input_digest";
    vandalise(rig.at.path, runId, [
      `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1010)
       INSERT INTO runs (run_id, position, ${columns}, ${rest}, created_at, updated_at)
       SELECT 'run_' || i, i, ${columns}, ${rest}, 1, 1 FROM runs, n WHERE run_id = $run`,
    ]);
    expect(diagnose(rig.reader)).toHaveLength(1_000);
  });
});

describe("a repair", () => {
  test.each(Object.keys(WRECKS))("mends exactly what is proven of %s", async (name) => {
    const { rig, runId, sound, made } = await wreck(name);
    const remaining = made.remaining ?? made.found;
    const before = { run: rig.run(runId), sound: rig.run(sound) };

    const dry = await mend(rig, true);
    expect(names(dry.extra?.remaining)).toEqual(remaining);
    expect(rig.run(runId)).toEqual(before.run);

    const done = await mend(rig, false);
    expect(done.extra).toEqual(dry.extra);
    expect(names(done.extra?.remaining)).toEqual(remaining);
    expect(names(diagnose(rig.reader))).toEqual(remaining);
    expect(rig.run(sound)).toEqual(before.sound);

    const settled = rig.run(runId);
    const again = await mend(rig, false);
    expect(again.extra?.repaired).toEqual([]);
    expect(rig.run(runId)).toEqual(settled);
  });

  test("tells each mending in an event and never invents a success", async () => {
    const { rig, runId } = await wreck("a terminal run with everything open");
    await mend(rig, false);
    expect(rig.events(runId).filter((kind) => kind === "repair")).toHaveLength(5);
    expect(rig.reader.attempts.newest(runId)?.status).toBe("cancelled");
    expect(rig.reader.effects.ofRun(runId)[0]?.status).toBe("ambiguous");
    expect(rig.reader.interactions.get("int_x")?.status).toBe("cancelled");
    expect(rig.run(runId).status).toBe("failed");
  });

  test("lets a mended run go on", async () => {
    const { rig, runId } = await wreck("a running run without a claim");
    await mend(rig, false);
    expect(rig.run(runId)).toMatchObject({ status: "queued", noProgress: 0 });
    const worker = await rig.relaunch(runId);
    await worker.advance(OK, next("end"));
  });

  test("holds a run whose manual effect nobody knows about", async () => {
    const { rig, runId } = await wreck(
      "a running run without a claim that applies a manual effect",
    );
    await mend(rig, false);
    expect(rig.run(runId)).toMatchObject({ status: "blocked", blockReason: "effect_ambiguous" });
  });

  test("does not hide a fault of the store", async () => {
    const { rig } = await wreck("a running run without a claim");
    const mended = repair(rig.failing("disk"), rig.asked("Repair"), { dryRun: true });
    await expect(mended).rejects.toThrow("disk");
  });

  test("repeated with its key gets its receipt", async () => {
    const { rig } = await wreck("a running run without a claim");
    const once = rig.asked("Repair", { key: "once" });
    const first = await repair(rig.host, once, { dryRun: false });
    const again = await repair(rig.host, once, { dryRun: false });
    expect(again).toEqual({ ...first, outcome: "adopted" });
  });
});
