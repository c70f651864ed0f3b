import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { WorkerTrace } from "../../src/host/supervisor/supervisor.ts";
import { bootId, identityOf, isAlive } from "../../src/platform/process-identity.ts";
import { PATIENCE_MS, rigFor } from "../support/supervised.ts";

interface Report {
  readonly id: string;
  readonly pid: number;
  readonly startTime: string;
  readonly tail: string;
}

const DYING_HOST = join(import.meta.dirname, "../fixtures/hosts/dies.ts");

describe("a host that is killed", () => {
  test("takes along a worker with a blocked loop, and the worker's command", async () => {
    const { host, report } = await startHost("blocks");
    const pids = [report.pid, Number(report.tail)];
    const processes = pids.map(identityOf).filter((identity) => identity !== undefined);
    expect(processes).toHaveLength(2);
    host.kill("SIGKILL");
    await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), PATIENCE_MS);
  });

  test("leaves the output of its workers to the next", async () => {
    const { host, report, folder } = await startHost("prints");
    // The file is at most one flush behind what the worker has printed.
    const next = await rigFor({ child: "obedient", workersDir: folder });
    const read = (): string => {
      const { head } = next.supervisor.readLog(report.id);
      return Buffer.from(head).toString();
    };
    await expect.poll(read).toBe("hello from a worker\n");
    host.kill("SIGKILL");
    await vi.waitFor(() => expect(identityOf(report.pid)).toBeUndefined(), PATIENCE_MS);
    expect(read()).toBe("hello from a worker\n");
  });

  test("leaves what its worker left to the next host, which ends it and tells", async () => {
    const { host, report } = await startHost("leaves-a-family");
    const family = report.tail.trim().split(" ").map(Number).map(identityOf);
    const members = family.filter((identity) => identity !== undefined);
    expect(members.filter(isAlive)).toHaveLength(3);
    host.kill("SIGKILL");
    const next = await rigFor({ child: "obedient", hostEpoch: 2 });
    const trace = traceOf(report);
    // The worker is dead and one member of its group has no tag; the other member tells whose group it is.
    const first = await next.supervisor.reap([trace]);
    expect(first.workers).toEqual([report.id]);
    // Each of the three may just have a child of its own.
    expect(first.processes).toBeGreaterThanOrEqual(3);
    expect(members.filter(isAlive)).toEqual([]);
    expect(await next.supervisor.reap([trace])).toEqual({ workers: [], processes: 0 });
  });
});

describe("reaping", () => {
  test("finds by its tag what no row tells of, and spares its own and other folders' workers", async () => {
    const lost = stray("rig.1.wrk_lost");
    const foreign = stray("other.1.wrk_x");
    const lookalike = stray("rigid.1.wrk_x");
    const own = stray("rig.2.wrk_own");
    const rig = await rigFor({ child: "obedient", hostEpoch: 2 });

    const report = await rig.supervisor.reap([]);
    expect(report).toEqual({ workers: [], processes: 1 });
    expect(identityOf(lost.pid ?? 0)).toBeUndefined();
    for (const spared of [foreign, lookalike, own])
      expect(identityOf(spared.pid ?? 0)).toBeDefined();
  });

  // A row may hold the number of a process that started long after the worker died.
  test("never signals a process that only has the number of a worker", async () => {
    const innocent = stray(undefined);
    const identity = identityOf(innocent.pid ?? 0);
    const pid = identity?.pid ?? 0;
    const rig = await rigFor({ child: "obedient", hostEpoch: 2 });
    const base = { workerId: "wrk_gone", groups: [] };
    const report = await rig.supervisor.reap([
      { ...base, pid, startTime: "1", bootId: bootId() },
      { ...base, pid, startTime: identity?.startTime ?? "", bootId: "another boot" },
      { ...base, pid: 1, startTime: identityOf(1)?.startTime ?? "", bootId: bootId() },
      { ...base, pid: 0, startTime: "", bootId: bootId() },
      { ...base, pid: -1, startTime: "", bootId: bootId() },
    ]);
    expect(report).toEqual({ workers: [], processes: 0 });
    expect(identity !== undefined && isAlive(identity)).toBe(true);
  });

  test("ends a recorded command that outlived its worker", async () => {
    const command = stray(undefined);
    const identity = identityOf(command.pid ?? 0);
    const rig = await rigFor({ child: "obedient", hostEpoch: 2 });
    const groups = identity === undefined ? [] : [identity];
    const trace = { workerId: "wrk_gone", pid: 0, startTime: "", bootId: bootId(), groups };
    expect(await rig.supervisor.reap([trace])).toEqual({ workers: ["wrk_gone"], processes: 1 });
    expect(groups.filter(isAlive)).toEqual([]);
  });
});

async function startHost(
  child: string,
): Promise<{ host: ChildProcess; report: Report; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "host-"));
  const args = [DYING_HOST, child, folder];
  const host = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise((resolve) => {
    host.once("exit", resolve);
  });
  onTestFinished(async () => {
    host.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const report = await new Promise<Report>((resolve) => {
    createInterface({ input: host.stdout }).on("line", (line) =>
      resolve(JSON.parse(line) as Report),
    );
  });
  return { host, report, folder };
}

/** A process of its own group that carries a tag, or none. */
function stray(tag: string | undefined): ChildProcess {
  const env = { ...process.env, ...(tag === undefined ? {} : { PI_WORKFLOWS_TAG: tag }) };
  const child = spawn("sleep", ["300"], { detached: true, stdio: "ignore", env });
  const exited = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return child;
}

function traceOf({ id, pid, startTime }: Report): WorkerTrace {
  return { workerId: id, pid, startTime, bootId: bootId(), groups: [] };
}
