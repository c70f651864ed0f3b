// A state folder in which nothing can be made, renamed or removed any more. What runs goes on as far as
// its open files let it, a host that cannot start says why in one line, and nothing is lost by it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { answer, JOURNEYS, startRun } from "../support/journeys.ts";
import { newStateFolder, runHost } from "../support/real-host.ts";
import { canMount, SmallDisk } from "../support/small-disk.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const { WAITING, COMPLETED } = RunStatus;

describe.skipIf(!canFreeze()).concurrent("what can no longer be changed (needs chattr)", () => {
  test("a folder, under a running host, hinders no run, no backup and no stop", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp });
    const runId = await startRun(voyage, "start", "travels");
    await voyage.untilStatus(runId, WAITING);
    const { paths, exited } = await voyage.host();
    const thaw = freeze(paths.folder, cleanUp);
    await answer(voyage, runId);
    await voyage.untilStatus(runId, COMPLETED);
    const path = join(voyage.project, "copy.db");
    await voyage.ask(({ host }) => host.backup({ path }));
    await voyage.leave("stop");
    expect(await exited).toMatchObject({ code: 0, stderr: "" });
    thaw();
    expect(voyage.effects(runId)).toEqual(JOURNEYS.travels.effects);
    await voyage.expectSound(runId);
  });

  test("a folder keeps a host from starting, which says so in one line", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp });
    const runId = await startRun(voyage, "start", "travels");
    await voyage.untilStatus(runId, WAITING);
    await voyage.leave("stop");
    const thaw = freeze(voyage.state, cleanUp);
    const { code, stderr } = await runHost(voyage.state, {}, cleanUp);
    expect(code).toBe(5);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(voyage.state);
    thaw();
    await answer(voyage, runId);
    await voyage.untilStatus(runId, COMPLETED);
    await voyage.expectSound(runId);
  });
});

describe.concurrent("where a file of the host must be", () => {
  test("a folder in the place of host.json is named, and nothing of a start is left", async ({
    onTestFinished: cleanUp,
  }) => {
    const state = newStateFolder(cleanUp);
    mkdirSync(join(state, "host.json", "inside"), { recursive: true });
    const { code, stderr } = await runHost(state, { PI_WORKFLOWS_SPARES: "0" }, cleanUp);
    expect(code).toBe(5);
    expect(stderr).toMatch(/host\.json cannot be written .*; free its place, or the disk\n$/);
    const left = readdirSync(state).filter((name) => name.startsWith("host.json."));
    expect(left).toEqual([]);
    rmSync(join(state, "host.json"), { recursive: true });
    const voyage = new Voyage({ cleanUp, state });
    expect((await voyage.ask(({ host }) => host.getStatus({}))).state).toBe("serving");
  });

  test.skipIf(!canMount())(
    "a socket that was removed is bound again on a full disk too (needs the right to mount one)",
    async ({ onTestFinished: cleanUp }) => {
      const disk = new SmallDisk(cleanUp, 16);
      const voyage = new Voyage({ cleanUp, state: disk.folder });
      const runId = await startRun(voyage, "start", "travels");
      await voyage.untilStatus(runId, WAITING);
      const { pid, paths } = await voyage.host();
      disk.fill();
      rmSync(paths.socket);
      await vi.waitUntil(() => existsSync(paths.socket), PATIENCE_MS);
      disk.free();
      await answer(voyage, runId);
      await voyage.untilStatus(runId, COMPLETED);
      expect((await voyage.host()).pid).toBe(pid);
      await voyage.expectSound(runId);
    },
  );
});

/** Makes it immutable until the returned function is called, as a mount that turns read-only would. */
function freeze(path: string, cleanUp: CleanUp): () => void {
  const thaw = (): void => void spawnSync("chattr", ["-i", path]);
  expect(spawnSync("chattr", ["+i", path]).status).toBe(0);
  cleanUp(thaw);
  return thaw;
}

function canFreeze(): boolean {
  const cleanUps: (() => Promise<void> | void)[] = [];
  try {
    const folder = newStateFolder((run) => cleanUps.push(run));
    const isFrozen = spawnSync("chattr", ["+i", folder]).status === 0;
    spawnSync("chattr", ["-i", folder]);
    return isFrozen;
  } finally {
    for (const run of cleanUps.toReversed()) void run();
  }
}
