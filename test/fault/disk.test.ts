// A full disk refuses what needs room and acknowledges nothing that is not on it. When there is room
// again the host goes on by itself: no run is lost, no effect is applied twice.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { valueJson } from "../../src/client/json-value.ts";
import { rejectionOf } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { startRun } from "../support/journeys.ts";
import { runHost } from "../support/real-host.ts";
import { canMount, SmallDisk } from "../support/small-disk.ts";
import { PATIENCE_MS, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const DISK_MB = 24;
/** More than a full disk has left, and than was in use of the log before. */
const HEAVY = 6 * 1024 * 1024;

describe.skipIf(!canMount()).concurrent("on a full disk (needs the right to mount one)", () => {
  test("a start is refused as STORAGE_FULL, and taken under the same key when there is room", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, disk } = await onSmallDisk(cleanUp);
    disk.fill();
    const input = { text: "x".repeat(HEAVY) };
    const refused = await startRun(voyage, "start", "exits", input).then(String, rejectionOf);
    expect(refused).toMatchObject({ reason: Reason.STORAGE_FULL });
    expect((await voyage.ask(({ runs }) => runs.listRuns({}))).runs).toEqual([]);
    expect((await voyage.ask(({ host }) => host.getStatus({}))).state).toBe("storage_stalled");
    disk.free();
    const runId = await startRun(voyage, "start", "exits", input);
    await voyage.untilStatus(runId, RunStatus.COMPLETED);
    await voyage.expectSound(runId);
  });

  test.for([
    { what: "a transition", heavyIn: "think" },
    { what: "the settlement of an effect", heavyIn: "act" },
  ])(
    "$what waits for room and is not done again",
    async ({ heavyIn }, { onTestFinished: cleanUp }) => {
      const { voyage, disk } = await onSmallDisk(cleanUp);
      const runId = await startRun(voyage, "start", "weighs", { bytes: HEAVY, heavyIn });
      await voyage.until(runId, ({ summary }) => summary?.node === heavyIn);
      disk.fill();
      writeFileSync(join(voyage.project, "gate"), "");
      const host = await voyage.host();
      await vi.waitUntil(async () => {
        const { state } = await host.host.getStatus({});
        return state === "storage_stalled";
      }, PATIENCE_MS);
      expect((await voyage.view(runId)).summary).toMatchObject({
        status: RunStatus.RUNNING,
        node: heavyIn,
      });
      disk.free();
      const { result, attempts } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
      expect(valueJson(result)).toEqual(heavyIn === "think" ? [HEAVY, 5] : [5, HEAVY]);
      expect(attempts).toHaveLength(3);
      expect((await voyage.host()).pid).toBe(host.pid);
      await voyage.expectSound(runId);
    },
  );

  test("a backup leaves no half a file, and the host goes on", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, disk } = await onSmallDisk(cleanUp);
    const runId = await startRun(voyage, "start", "exits", { text: "x".repeat(HEAVY) });
    await voyage.untilStatus(runId, RunStatus.COMPLETED);
    disk.fill();
    const path = join(disk.folder, "copy.db");
    const { host } = await voyage.host();
    const refused = await host.backup({ path }).then(String, rejectionOf);
    expect(refused).toMatchObject({ reason: Reason.STORAGE_FULL });
    expect(readdirSync(disk.folder).filter((name) => name.startsWith("copy"))).toEqual([]);
    disk.free();
    await host.backup({ path });
    expect(existsSync(path)).toBe(true);
    await voyage.expectSound(runId);
  });

  test("a host stops in order, and goes on when there is room", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, disk } = await onSmallDisk(cleanUp);
    const runId = await startRun(voyage, "start", "exits");
    await voyage.untilStatus(runId, RunStatus.COMPLETED);
    disk.fill();
    const host = await voyage.host();
    await voyage.leave("stop");
    expect(await host.exited).toMatchObject({ code: 0, stderr: "" });
    disk.free();
    await voyage.expectSound(runId);
  });

  test("a host that cannot be started says that there is no room, in one line", async ({
    onTestFinished: cleanUp,
  }) => {
    const disk = new SmallDisk(cleanUp, 1);
    disk.fill();
    const { code, stderr } = await runHost(disk.folder, {}, cleanUp);
    expect(code).toBe(5);
    expect(stderr).toMatch(/full|no space/i);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a host says so also of a database that it has closed, and then goes on with it", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, disk } = await onSmallDisk(cleanUp);
    const runId = await startRun(voyage, "start", "exits");
    await voyage.untilStatus(runId, RunStatus.COMPLETED);
    await voyage.leave("stop");
    disk.fill();
    const { code, stderr } = await runHost(disk.folder, {}, cleanUp);
    expect(code).toBe(5);
    expect(stderr).toMatch(/no room for .*host\.db \(ENOSPC\)/);
    expect(stderr).not.toContain("move the three files away");
    disk.free();
    await voyage.expectSound(runId);
  });

  test("a new database is there whole or not at all, wherever the room ends", async ({
    onTestFinished: cleanUp,
  }) => {
    const disk = new SmallDisk(cleanUp, 4);
    const settings = { PI_WORKFLOWS_SPARES: "0" };
    for (const kilobytes of [8, 16, 32, 64, 128, 256, 384]) {
      disk.fill(kilobytes * 1024);
      const { code, stderr } = await runHost(disk.folder, settings, cleanUp);
      expect({ kilobytes, code, stderr }).toMatchObject({
        code: 5,
        stderr: expect.stringMatching(/no room|disk is full|no space/i) as string,
      });
      expect(readdirSync(disk.folder).filter((name) => /\.(?:new|room)/.test(name))).toEqual([]);
      disk.free();
    }
    const voyage = new Voyage({ cleanUp, state: disk.folder });
    expect((await voyage.ask(({ host }) => host.getStatus({}))).state).toBe("serving");
  });

  test("that is read-only a host says so, and where", async ({ onTestFinished: cleanUp }) => {
    const disk = new SmallDisk(cleanUp, 4);
    disk.makeReadOnly();
    const { code, stderr } = await runHost(disk.folder, {}, cleanUp);
    expect(code).toBe(5);
    expect(stderr).toContain(disk.folder);
    expect(stderr).toMatch(/read-only/i);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

async function onSmallDisk(
  cleanUp: CleanUp,
): Promise<{ readonly voyage: Voyage; readonly disk: SmallDisk }> {
  const disk = new SmallDisk(cleanUp, DISK_MB);
  const voyage = new Voyage({ cleanUp, state: disk.folder });
  await voyage.host();
  return { voyage, disk };
}
