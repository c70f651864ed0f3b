import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { StopReason } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import { isSafeGroup, signalChild } from "../../src/host/supervisor/process-tree.ts";
import type { SupervisedWorker } from "../../src/host/supervisor/supervised-worker.ts";
import { groupMembers, groupOf, identityOf, isAlive } from "../../src/platform/process-identity.ts";
import type { ProcessIdentity } from "../../src/platform/process-identity.ts";
import { busyRig, endOf, PATIENCE_MS } from "../support/supervised.ts";
import { act } from "../support/supervisor-rig.ts";
import type { Rig } from "../support/supervisor-rig.ts";

describe("the end of a worker", () => {
  test.each([0, 7, 255])("by itself is told with its exit code %i", async (code) => {
    const { worker } = await busyRig({ child: "obedient" });
    act(worker, String(code));
    expect(await endOf(worker)).toMatchObject({ cause: "exit", code, signal: undefined });
    expect(worker.exit?.reason).toBe(`exited with code ${code}`);
  });

  test("by a stranger's signal is told with the signal", async () => {
    const { worker } = await busyRig({ child: "obedient" });
    process.kill(worker.pid, "SIGSEGV");
    expect(await endOf(worker)).toMatchObject({ cause: "signal", signal: "SIGSEGV" });
  });

  test("is told to whoever asks late, too", async () => {
    const { worker } = await busyRig({ child: "obedient" });
    act(worker, "3");
    const first = await endOf(worker);
    expect(await endOf(worker)).toBe(first);
    expect(worker.state).toBe("ended");
  });

  test("for want of memory is called by its name", async () => {
    const { worker } = await busyRig({ child: "eats-memory", settings: { workerMemoryMb: 512 } });
    act(worker);
    const exit = await endOf(worker);
    expect(exit.cause).toBe("out_of_memory");
    expect(exit.reason).toContain("ran out of memory");
  });

  test("comes at once when it hears the stop frame", async () => {
    const { worker } = await busyRig({ child: "obedient" });
    worker.stop(StopReason.PAUSE, 60_000);
    expect(await endOf(worker)).toMatchObject({ cause: "stopped", code: 0 });
    expect(worker.exit?.reason).toContain("the run was paused");
  });

  test("comes by SIGKILL when it ignores the stop frame and SIGTERM", async () => {
    const { worker } = await busyRig({ child: "ignores-stop" });
    worker.stop(StopReason.CANCEL, 0);
    expect(await endOf(worker)).toMatchObject({ cause: "stopped", signal: "SIGKILL" });
    expect(worker.outputTail(100)).toContain("SIGTERM ignored");
  });

  test("comes at once when it is killed, also while it is stopped in its tracks", async () => {
    const { worker } = await busyRig({ child: "obedient" });
    process.kill(worker.pid, "SIGSTOP");
    worker.kill();
    expect(await endOf(worker)).toMatchObject({ cause: "killed", signal: "SIGKILL" });
  });

  test("does not wait for those who inherited its output", async () => {
    const { worker } = await busyRig({ child: "leaves-a-family" });
    act(worker);
    expect(await endOf(worker)).toMatchObject({ cause: "exit", code: 0 });
    const family = membersOf(worker);
    expect(family.filter(isAlive)).toHaveLength(3);
    await settle(worker, family);
  });
});

describe("the tree of a worker", () => {
  test("is gone when its end is told: members of its group, without a tag, in another session", async () => {
    const { rig, worker } = await busyRig({ child: "leaves-a-family" });
    worker.bind("run_1", 1);
    act(worker);
    await endOf(worker);
    const family = membersOf(worker);
    expect(family.filter(isAlive)).toHaveLength(3);
    await rig.supervisor.endTree(rootOf(worker));
    expect(family.filter(isAlive)).toEqual([]);
  });

  test("of a worker that served no run is ended without being asked", async () => {
    const { rig, worker } = await busyRig({ child: "leaves-a-family" });
    act(worker);
    await endOf(worker);
    const family = membersOf(worker);
    await rig.supervisor.stop(0);
    expect(family.filter(isAlive)).toEqual([]);
  });

  test("holds the commands that were recorded, and theirs", async () => {
    const { rig, worker } = await busyRig({ child: "obedient" });
    const command = stranger("sleep 300 & sleep 300 & wait");
    const members = await familyOf(command, 3);
    const leader = members.find(({ pid }) => pid === command.pid);
    await rig.supervisor.endTree({ ...rootOf(worker), pid: 0, groups: leader ? [leader] : [] });
    expect(members.filter(isAlive)).toEqual([]);
    // The worker carries its own tag.
    expect((await endOf(worker)).signal).toBe("SIGTERM");
  });

  test("may be ended twice, and when there is nothing left", async () => {
    const { rig, worker } = await busyRig({ child: "obedient" });
    worker.bind("run_1", 1);
    act(worker, "0");
    await endOf(worker);
    const twice = [rig.supervisor.endTree(rootOf(worker)), rig.supervisor.endTree(rootOf(worker))];
    expect(await Promise.all(twice)).toHaveLength(2);
  });

  test("does not hold a process that has a recorded number and another start time", async () => {
    const { rig, worker } = await busyRig({ child: "obedient" });
    worker.bind("run_1", 1);
    const innocent = stranger("exec sleep 300");
    const [identity] = await familyOf(innocent, 1);
    const reused = { pid: identity?.pid ?? 0, startTime: "1" };
    await rig.supervisor.endTree({ ...rootOf(worker), ...reused, groups: [reused] });
    expect(identity !== undefined && isAlive(identity)).toBe(true);
  });

  test("never holds this process, its group, or process 1", async () => {
    const { rig, worker } = await busyRig({ child: "obedient" });
    const self = identityOf(process.pid);
    const first = identityOf(1);
    const groups = [self, first].filter((identity) => identity !== undefined);
    expect(groups).toHaveLength(2);
    await rig.supervisor.endTree({ ...rootOf(worker), groups });
    expect(groups.every(isAlive)).toBe(true);
  });
});

describe("the guard of group signals", () => {
  test.each([0, 1, -1, Number.NaN, process.pid, groupOf(process.pid) ?? 0])(
    "refuses %d",
    (pgid) => {
      expect(isSafeGroup(pgid)).toBe(false);
    },
  );

  // A child that was not detached is in our own group: signalling "its group" would end us.
  test("signals a child that leads no group alone", async () => {
    const child = spawn("sleep", ["300"], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
    expect(groupOf(child.pid ?? 0)).toBe(groupOf(process.pid));
    signalChild(child.pid ?? 0, "SIGTERM");
    expect(await ended).toBe("SIGTERM");
  });
});

/** The processes whose pids the worker printed. */
function membersOf(worker: SupervisedWorker): readonly ProcessIdentity[] {
  return worker
    .outputTail(200)
    .trim()
    .split(" ")
    .map((pid) => identityOf(Number(pid)))
    .filter((identity) => identity !== undefined);
}

async function settle(worker: SupervisedWorker, family: readonly ProcessIdentity[]): Promise<void> {
  expect(worker.state).toBe("ended");
  await vi.waitFor(() => expect(family.filter(isAlive)).toEqual([]), PATIENCE_MS);
}

function rootOf(worker: SupervisedWorker): Parameters<Rig["supervisor"]["endTree"]>[0] {
  return { workerId: worker.id, pid: worker.pid, startTime: worker.startTime, groups: [] };
}

/** A process group that no worker started. */
function stranger(script: string): ChildProcess {
  const child = spawn("sh", ["-c", script], { stdio: "ignore", detached: true });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => {
      child.once("exit", resolve);
    });
    process.kill(-(child.pid ?? process.pid), "SIGKILL");
    await ended;
  });
  return child;
}

async function familyOf(leader: ChildProcess, count: number): Promise<readonly ProcessIdentity[]> {
  return vi.waitFor(() => {
    const pids = groupMembers(leader.pid ?? 0);
    expect(pids).toHaveLength(count);
    return pids.map(identityOf).filter((identity) => identity !== undefined);
  }, PATIENCE_MS);
}
