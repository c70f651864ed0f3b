import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cancelRun, pauseRun, resumeRun } from "../../src/host/operations/runs.ts";
import { pruneRuns } from "../../src/host/operations/retention.ts";
import { ProcessTree } from "../../src/host/supervisor/process-tree.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { HeadlessRig } from "../support/headless-rig.ts";

describe("the Pi of a headless run", () => {
  test("is started in the project, with a session and a secret of its own", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks();
    const { args, cwd, env } = await rig.startOf(runId);
    expect(cwd).toBe(rig.project);
    const session = ["--session-id", `wf-${runId}`, "--session-dir"];
    expect(args.slice(0, 5)).toEqual(["--mode", "rpc", ...session]);
    expect(args).not.toContain("--approve");
    expect(env).toMatchObject({
      PI_WORKFLOWS_HOME: rig.folder,
      PI_CODING_AGENT_DIR: join(rig.folder, "agent"),
    });
    expect(env["PI_WORKFLOWS_TAG"]).toMatch(/\.\d+\.hpi_/);
    expect(env["AI_AGENT"]).toBeUndefined();
    expect(existsSync(join(rig.folder, "sessions", runId))).toBe(true);
    await rig.attach(runId);
    expect(rig.pis.live()).toMatchObject([{ runId }]);
  });

  test("is answered with cancel when it asks a user", async () => {
    const rig = new HeadlessRig();
    await rig.asks("dialog");
    const answers = await rig.see(() => {
      const lines = rig.told("answers")?.trim().split("\n");
      return lines?.length === 4 ? lines : undefined;
    });
    expect(answers.map((line): unknown => JSON.parse(line))).toEqual(
      ["select", "confirm", "input", "editor"].map((id) => ({
        type: "extension_ui_response",
        id,
        cancelled: true,
      })),
    );
  });

  test("may flood the host with what a model says", async () => {
    const rig = new HeadlessRig();
    await rig.asks("flood");
    // What comes after 20 MB is still read.
    expect(await rig.see(() => rig.told("answers"))).toContain("after");
  });

  test("waits for a place, which the next one gets when the run moves on", async () => {
    const rig = new HeadlessRig(1);
    const [first, second] = [await rig.asks(), await rig.asks()];
    await rig.startOf(first.runId);
    await rig.attach(first.runId);
    expect(rig.pis.live().map(({ runId }) => runId)).toEqual([first.runId]);
    await pauseRun(rig.host, rig.rig.asked("PauseRun"), { runId: first.runId, now: false });
    await rig.startOf(second.runId);
    expect(rig.pis.live().map(({ runId }) => runId)).toEqual([second.runId]);
  });

  test("is ended with what it started, also when it will not end", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks("stubborn");
    const { pid } = await rig.startOf(runId);
    const child = Number(await rig.see(() => rig.told("child")));
    expect(rig.processes()).toEqual(expect.arrayContaining([pid, child]));
    await rig.pis.stop();
    expect(rig.processes()).toEqual([]);
    expect(rig.pis.isNeeded).toBe(true);
  });

  test("is found by the next host when it outlives its own", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks("stubborn");
    await rig.startOf(runId);
    await rig.see(() => rig.told("child"));
    const { log, epoch } = rig.host;
    const tree = new ProcessTree({ clock: systemClock, log, storeTag: rig.storeTag });
    expect(await tree.endStrays(epoch)).toBe(0);
    expect(await tree.endStrays(epoch + 1)).toBeGreaterThanOrEqual(2);
    expect(rig.processes()).toEqual([]);
  });

  test("that dies in a turn loses it, is replaced, and the step is shown again", async () => {
    const rig = new HeadlessRig();
    const { runId, interactionId } = await rig.asks();
    await rig.attach(runId);
    const messageId = await rig.opensTurn(runId);
    const { pid } = await rig.startOf(runId);
    process.kill(pid, "SIGKILL");
    await rig.see(() => rig.starts.find((start) => start.pid !== pid));
    const { reader } = rig.rig;
    expect(reader.turns.get(messageId)).toMatchObject({ status: "lost" });
    expect(reader.interactions.get(interactionId)).toMatchObject({ lostTurns: 1 });
    expect(reader.messages.newestOfInteraction(interactionId)).toMatchObject({ reason: "resumed" });
  });

  test("that dies in the middle of a command leaves nothing of it beside its successor", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks("stubborn");
    const { pid } = await rig.startOf(runId);
    const child = Number(await rig.see(() => rig.told("child")));
    rmSync(join(rig.folder, "started", "child"));
    process.kill(pid, "SIGKILL");
    const next = await rig.see(() => rig.starts.find((start) => start.pid !== pid));
    expect(rig.processes()).not.toContain(child);
    expect(rig.pis.live()).toMatchObject([{ runId, pid: next.pid }]);
    await rig.see(() => rig.told("child"));
  });

  test("that stands still is ended all the same when its run is cancelled", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks("stubborn");
    const { pid } = await rig.startOf(runId);
    await rig.attach(runId);
    await rig.opensTurn(runId);
    const child = Number(await rig.see(() => rig.told("child")));
    for (const stopped of [pid, child]) process.kill(stopped, "SIGSTOP");
    await cancelRun(rig.host, rig.rig.asked("CancelRun"), { runId, note: "" });
    await rig.see(() => (rig.pis.live().length === 0 ? true : undefined));
    expect(rig.processes()).toEqual([]);
  });

  test("loses its turn without blame when the host ends it", async () => {
    const rig = new HeadlessRig();
    const { runId, interactionId } = await rig.asks();
    await rig.attach(runId);
    const messageId = await rig.opensTurn(runId);
    await rig.pis.stop();
    const { reader } = rig.rig;
    expect(reader.turns.get(messageId)).toMatchObject({ status: "lost" });
    expect(reader.interactions.get(interactionId)).toMatchObject({
      status: "pending",
      lostTurns: 0,
    });
    expect(reader.messages.newestOfInteraction(interactionId)).toMatchObject({ reason: "resumed" });
  });

  test("loses its turn without blame when its host died", async () => {
    const rig = new HeadlessRig();
    const { runId, interactionId } = await rig.asks();
    await rig.attach(runId);
    const messageId = await rig.opensTurn(runId);
    // As the next host begins.
    await rig.pis.recover();
    const { reader } = rig.rig;
    expect(reader.turns.get(messageId)).toMatchObject({ status: "lost" });
    expect(reader.interactions.get(interactionId)).toMatchObject({ lostTurns: 0 });
    await rig.pis.recover();
    expect(reader.messages.ofRun(runId, 10).map(({ reason }) => reason)).toEqual([
      "first",
      "resumed",
    ]);
  });

  test("has a session that goes when the run is deleted", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks();
    await rig.startOf(runId);
    const folder = join(rig.folder, "sessions", runId);
    expect(existsSync(folder)).toBe(true);
    await cancelRun(rig.host, rig.rig.asked("CancelRun"), { runId, note: "" });
    await rig.see(() => (rig.pis.live().length === 0 ? true : undefined));
    expect(existsSync(folder)).toBe(true);
    await pruneRuns(rig.host, rig.rig.asked("Prune"), { olderThanMs: 0, dryRun: false });
    await rig.see(() => (existsSync(folder) ? undefined : true));
  });

  test("comes back after a pause", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks();
    const { pid } = await rig.startOf(runId);
    await pauseRun(rig.host, rig.rig.asked("PauseRun"), { runId, now: false });
    await rig.see(() => (rig.pis.live().length === 0 ? true : undefined));
    expect(rig.pis.isNeeded).toBe(false);
    await resumeRun(rig.host, rig.rig.asked("ResumeRun"), {
      runId,
      sourcePolicy: "unchanged",
    });
    await rig.see(() => rig.starts.find((start) => start.pid !== pid));
  });
});

describe("a step that finds no Pi fails", () => {
  test("after three starts that came to nothing, with their last words", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks("die");
    const error = await failureOf(rig, runId);
    expect(error).toMatchObject({ name: "pi_unavailable" });
    expect(error.message).toContain("the step think found no Pi after 3 starts");
    expect(error.message).toContain("exited with code 7");
    expect(error.message).toContain("this Pi has had enough");
  });

  test("at once without a model", async () => {
    const rig = new HeadlessRig();
    const { runId } = await rig.asks("no-model");
    expect((await failureOf(rig, runId)).message).toContain("/login");
    expect(rig.starts).toHaveLength(1);
  });

  test("at once when its arguments are the host's business", async () => {
    const rig = new HeadlessRig();
    const model = { provider: "", model: "", args: ["--approve"] };
    const worker = await rig.rig.running("think", { projectDir: rig.project, model });
    await worker.ask({ kind: "agent", summary: "s", prompt: "p" });
    expect((await failureOf(rig, worker.runId)).message).toContain("--approve");
    expect(rig.starts).toEqual([]);
  });

  test("without the extension, which is given when Pi does not load it by itself after all", async () => {
    const rig = new HeadlessRig();
    const write = (path: string, value: object): void => {
      mkdirSync(dirname(join(rig.folder, path)), { recursive: true });
      writeFileSync(join(rig.folder, path), JSON.stringify(value));
    };
    // A copy that its filters switch off, which the host does not know.
    write("copy/package.json", { name: "pi-workflows" });
    write("agent/settings.json", { packages: [{ source: "../copy", extensions: [] }] });
    const { runId } = await rig.asks("no-extension");
    expect((await failureOf(rig, runId)).message).toContain("did not load the extension");
    const given = rig.starts.filter(({ args }) => args.includes("-e"));
    expect([rig.starts.length, given.length]).toEqual([3, 2]);
  });
});

async function failureOf(
  headless: HeadlessRig,
  runId: string,
): Promise<{ readonly name: string; readonly message: string }> {
  const attempt = await headless.see(() => {
    const newest = headless.rig.reader.attempts.newest(runId);
    return newest?.status === "failed" ? newest : undefined;
  });
  return attempt.error ?? { name: "", message: "" };
}
