import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  bootId,
  cpuMsOf,
  groupMembers,
  groupOf,
  identityOf,
  isAlive,
  startTimeOf,
  stateOf,
  taggedProcesses,
} from "../../../src/platform/process-identity.ts";
import { psTable, psTagged } from "../../../src/platform/process-table-ps.ts";

describe("the identity of a process", () => {
  test("is that of a living one", () => {
    const self = identityOf(process.pid);
    expect(self).toEqual({
      pid: process.pid,
      startTime: startTimeOf(process.pid),
      bootId: bootId(),
    });
    expect(self !== undefined && isAlive(self)).toBe(true);
    expect(stateOf(process.pid)).toMatch(/[RS]/);
    expect(cpuMsOf(process.pid)).toBeGreaterThan(0);
  });

  test("differs in any of its three parts from another's", () => {
    const self = identityOf(process.pid);
    expect(self).toBeDefined();
    if (self === undefined) return;
    expect(isAlive({ ...self, startTime: `${self.startTime}1` })).toBe(false);
    expect(isAlive({ ...self, bootId: "another" })).toBe(false);
    expect(isAlive({ ...self, pid: 1 })).toBe(false);
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 31])("does not exist for %d", (pid) => {
    expect(identityOf(pid)).toBeUndefined();
    expect(stateOf(pid)).toBeUndefined();
    expect(cpuMsOf(pid)).toBeUndefined();
    expect(groupOf(pid)).toBeUndefined();
  });

  // A zombie answers signal 0, and so does its group.
  test("ends with the process, not with its burial", async () => {
    const parent = start("sh", ["-c", "sleep 0 & echo $!; exec sleep 300"], {});
    const pid = Number(await firstLine(parent));
    await vi.waitFor(() => expect(stateOf(pid)).toBe("Z"), 5_000);
    expect(identityOf(pid)).toBeUndefined();
    expect(isAlive({ pid, startTime: startTimeOf(pid) ?? "", bootId: bootId() })).toBe(false);
    expect(groupMembers(parent.pid ?? 0)).toEqual([parent.pid]);
  });

  test("is read past a name with spaces and parentheses", async () => {
    const child = start(
      "sh",
      ["-c", "printf 'a) R 1 1 (b' > /proc/self/comm; echo ok; sleep 300"],
      {},
    );
    await firstLine(child);
    expect(groupOf(child.pid ?? 0)).toBe(child.pid);
    expect(identityOf(child.pid ?? 0)?.startTime).toMatch(/^\d+$/);
  });

  test("shows that it is stopped", async () => {
    const child = start("sleep", ["300"], {});
    child.kill("SIGSTOP");
    await vi.waitFor(() => expect(stateOf(child.pid ?? 0)).toBe("T"), 5_000);
  });
});

describe("processes with a tag", () => {
  test("are found by the whole tag and by its beginning up to a dot", async () => {
    const tag = `unit${process.pid}`;
    const child = start("sleep", ["300"], { PI_WORKFLOWS_TAG: `${tag}.1.wrk_a` });
    const longer = start("sleep", ["300"], { PI_WORKFLOWS_TAG: `${tag}x.1.wrk_b` });
    start("sleep", ["300"], { OTHER: `PI_WORKFLOWS_TAG=${tag}` });
    await vi.waitFor(() => expect(pidsWithTag(`${tag}x`)).toEqual([longer.pid]), 5_000);
    expect(pidsWithTag(tag)).toEqual([child.pid]);
    expect(pidsWithTag(`${tag}.1.wrk_a`)).toEqual([child.pid]);
    expect(pidsWithTag(`${tag}.1.wrk`)).toEqual([]);
    expect(taggedProcesses(tag)).toEqual([{ pid: child.pid, tag: `${tag}.1.wrk_a` }]);
  });
});

// Where there is no /proc, `ps` has to tell the same.
describe("the table that ps prints", () => {
  test("knows one process and all", () => {
    const [self] = psTable(process.pid);
    expect(self).toMatchObject({ pid: process.pid, pgid: groupOf(process.pid) });
    expect(self?.startTime).toMatch(/\d\d:\d\d:\d\d/);
    expect(psTable().map(({ pid }) => pid)).toContain(process.pid);
    expect(psTable(2 ** 22 + 1)).toEqual([]);
  });

  test("tells tags, or nothing where it does not know how", () => {
    expect(Array.isArray(psTagged("PI_WORKFLOWS_TAG"))).toBe(true);
  });
});

function pidsWithTag(tag: string): readonly number[] {
  return taggedProcesses(tag).map(({ pid }) => pid);
}

function start(program: string, args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(program, args, {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...env },
  });
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  onTestFinished(async () => {
    process.kill(-(child.pid ?? process.pid), "SIGKILL");
    await ended;
  });
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
}
