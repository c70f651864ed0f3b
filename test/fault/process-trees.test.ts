// What a node started must be gone when its generation is: shells that ignore SIGTERM, children that
// hold the output open, and one that left the process group and the session.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { identityOf, isAlive } from "../../src/platform/process-identity.ts";
import type { ProcessIdentity } from "../../src/platform/process-identity.ts";
import { startRun } from "../support/journeys.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const MEMBERS = 4;

test.concurrent("cancel ends the whole tree of a node", async ({ onTestFinished: cleanUp }) => {
  const { voyage, runId, tree } = await grown(cleanUp);
  await voyage.command("cancel", ({ runs }, command) => runs.cancelRun({ command, runId }));
  await gone(tree);
  expect((await voyage.view(runId)).summary?.status).toBe(RunStatus.CANCELLED);
});

test.concurrent("pause --now ends the whole tree of a node, and resume runs it once more", async ({
  onTestFinished: cleanUp,
}) => {
  const { voyage, runId, tree } = await grown(cleanUp);
  await voyage.command("pause", ({ runs }, command) =>
    runs.pauseRun({ command, runId, now: true }),
  );
  await voyage.command("resume", ({ runs }, command) => runs.resumeRun({ command, runId }));
  expect(await survivors(voyage, runId, tree)).toEqual([]);
});

test.concurrent("a command that outlives its killed worker is gone before the run is launched again", async ({
  onTestFinished: cleanUp,
}) => {
  const { voyage, runId, tree } = await grown(cleanUp);
  const { worker } = await voyage.view(runId);
  process.kill(worker?.pid ?? 0, "SIGKILL");
  expect(await survivors(voyage, runId, tree)).toEqual([]);
});

test.concurrent("a host killed and started again first ends what its worker left", async ({
  onTestFinished: cleanUp,
}) => {
  const { voyage, runId, tree } = await grown(cleanUp);
  await voyage.leave("kill");
  expect(await survivors(voyage, runId, tree)).toEqual([]);
});

test.concurrent("a host that stops leaves no process behind", async ({
  onTestFinished: cleanUp,
}) => {
  const { voyage, runId, tree } = await grown(cleanUp);
  await voyage.ask(({ host }) => host.shutdown({ now: true }));
  await (
    await voyage.host()
  ).exited;
  expect(tree.filter(isAlive)).toEqual([]);
  expect(await survivors(voyage, runId, tree)).toEqual([]);
});

interface Grown {
  readonly voyage: Voyage;
  readonly runId: string;
  readonly tree: readonly ProcessIdentity[];
}

/** A run whose command has started all of its family. */
async function grown(cleanUp: CleanUp): Promise<Grown> {
  const voyage = new Voyage({ cleanUp });
  const runId = await startRun(voyage, "start", "trees");
  const file = join(voyage.project, "pids");
  const tree = await vi.waitUntil(() => familyIn(file), { timeout: PATIENCE_MS, interval: 20 });
  return { voyage, runId, tree };
}

function familyIn(file: string): readonly ProcessIdentity[] | undefined {
  if (!existsSync(file)) return undefined;
  const pids = readFileSync(file, "utf8").trim().split("\n").map(Number);
  const family = pids.map(identityOf).filter((identity) => identity !== undefined);
  return family.length === MEMBERS ? family : undefined;
}

async function gone(tree: readonly ProcessIdentity[]): Promise<void> {
  await vi.waitFor(() => expect(tree.filter(isAlive)).toEqual([]), {
    timeout: PATIENCE_MS,
    interval: 20,
  });
}

/** Of the first family, what lives after the command ran again to its end, or what that met. */
async function survivors(
  voyage: Voyage,
  runId: string,
  tree: readonly ProcessIdentity[],
): Promise<readonly (string | ProcessIdentity)[]> {
  await voyage.untilStatus(runId, RunStatus.COMPLETED);
  await voyage.expectSound(runId);
  const overlap = join(voyage.project, "overlap");
  const met = existsSync(overlap) ? readFileSync(overlap, "utf8").trim().split("\n") : [];
  return [...met, ...tree.filter(isAlive)];
}
