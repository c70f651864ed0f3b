// A backup is a whole host's state at one moment: put in place as the page about operating says, its
// runs go on from there, and what they had done outside is not done again. A copy that somebody only
// looks at does no harm to the host that it was made of.
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { runCli } from "../support/cli-process.ts";
import { answer, JOURNEYS, startRun } from "../support/journeys.ts";
import { newStateFolder } from "../support/real-host.ts";
import type { CleanUp } from "../support/real-host.ts";
import { endingOf, PATIENCE_MS, Voyage } from "../support/voyage.ts";

const { WAITING, PAUSED, RUNNING, COMPLETED } = RunStatus;
const ONCE = JOURNEYS.travels.effects;

describe.concurrent("a backup made while runs execute", () => {
  test("goes on in another folder, each run from where it was", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp });
    const runs = await busyRuns(voyage);
    const copy = await backUp(voyage, cleanUp);
    await voyage.leave("stop");

    const state = newStateFolder(cleanUp);
    copyFileSync(copy, join(state, "host.db"));
    const restored = new Voyage({ cleanUp, state, project: voyage.project });
    expect((await restored.untilStatus(runs.asking, WAITING)).attempts).toHaveLength(4);
    await restored.untilStatus(runs.paused, PAUSED);
    open(voyage);
    await restored.command("resume", (host, command) =>
      host.runs.resumeRun({ command, runId: runs.paused }),
    );
    for (const runId of [runs.asking, runs.paused, runs.thinking, runs.acting]) {
      await answer(restored, runId, `answer ${runId}`);
      expect(endingOf(await restored.untilStatus(runId, COMPLETED))).toEqual(
        JOURNEYS.travels.ending,
      );
      await restored.expectSound(runId);
    }
    for (const runId of [runs.asking, runs.paused, runs.thinking]) {
      expect(voyage.effects(runId)).toEqual(ONCE);
    }
    // It was being applied when the copy was made: nobody can know, so its key is shown again.
    expect(voyage.effects(runs.acting)).toEqual({ ...ONCE, "line:write:1": 2 });
  });

  test("put back in place forgets what came after it, and nothing else", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp });
    const runId = await startRun(voyage, "start", "travels");
    await voyage.untilStatus(runId, WAITING);
    const copy = await backUp(voyage, cleanUp);
    const later = await startRun(voyage, "start later", "exits");
    await answer(voyage, runId);
    await voyage.untilStatus(runId, COMPLETED);

    // The steps of docs/operating.md.
    const { paths } = await voyage.host();
    await voyage.leave("stop");
    mkdirSync(join(paths.folder, "away"));
    for (const name of ["host.db", "host.db-wal", "host.db-shm"].filter((one) =>
      existsSync(join(paths.folder, one)),
    )) {
      renameSync(join(paths.folder, name), join(paths.folder, "away", name));
    }
    copyFileSync(copy, paths.database);

    const restored = new Voyage({ cleanUp, state: voyage.state, project: voyage.project });
    const { summary } = await restored.view(runId);
    expect(summary?.status).toBe(WAITING);
    const listed = await restored.ask((host) => host.runs.listRuns({}));
    expect(listed.runs.map((run) => run.runId)).not.toContain(later);
    await answer(restored, runId);
    await restored.untilStatus(runId, COMPLETED);
    expect(voyage.effects(runId)).toEqual(ONCE);
    expect(await startRun(restored, "start", "travels")).toBe(runId);
    await restored.expectSound(runId);
  });

  test("opened elsewhere while its host lives leaves that host's workers alone", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp });
    const runId = await startRun(voyage, "start", "travels", { holdsFor: gateOf(voyage) });
    const { worker } = await voyage.until(runId, ({ summary }) => summary?.node === "plan");
    await voyage.untilStatus(runId, RUNNING);
    const copy = await backUp(voyage, cleanUp);
    const state = newStateFolder(cleanUp);
    copyFileSync(copy, join(state, "host.db"));
    const other = new Voyage({ cleanUp, state, project: voyage.project });
    await other.untilStatus(runId, RUNNING);
    await other.leave("kill");
    open(voyage);
    const { attempts, worker: after } = await voyage.untilStatus(runId, WAITING);
    expect(attempts.filter(({ node }) => node === "plan")).toHaveLength(1);
    expect(after?.generation).toBe(worker?.generation);
    await voyage.expectSound(runId);
  });
});

interface BusyRuns {
  readonly asking: string;
  readonly paused: string;
  readonly thinking: string;
  readonly acting: string;
}

/** One run that waits, one that is paused, one in its first node, and one whose effect is being applied. */
async function busyRuns(voyage: Voyage): Promise<BusyRuns> {
  const start = (key: string, input = {}) => startRun(voyage, key, "travels", input);
  const asking = await start("asking");
  const paused = await start("paused");
  const thinking = await start("thinking", { holdsFor: gateOf(voyage) });
  const acting = await start("acting", { lingersFor: [gateOf(voyage)] });
  await voyage.untilStatus(asking, WAITING);
  await voyage.untilStatus(paused, WAITING);
  await voyage.command("pause", ({ runs }, command) => runs.pauseRun({ command, runId: paused }));
  await voyage.untilStatus(thinking, RUNNING);
  await vi.waitUntil(() => voyage.effects(acting)["line:write:1"] === 1, PATIENCE_MS);
  return { asking, paused, thinking, acting };
}

/** As a person does it; returns where the copy is. */
async function backUp(voyage: Voyage, cleanUp: CleanUp): Promise<string> {
  const { paths } = await voyage.host();
  const copy = join(voyage.project, "copy.db");
  const { code, stdout } = await runCli({ paths, cleanUp }, "backup", copy);
  expect(stdout).toMatch(/sha256 [0-9a-f]{64}/);
  expect(code).toBe(0);
  return copy;
}

function gateOf(voyage: Voyage): string {
  return join(voyage.project, "gate");
}

function open(voyage: Voyage): void {
  writeFileSync(gateOf(voyage), "");
}
