import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Activity } from "../../src/host/activity.ts";
import { Housekeeping } from "../../src/host/housekeeping.ts";
import type { HousekeepingOptions } from "../../src/host/housekeeping.ts";
import { IDENTITY_CHECK_MS, IDLE_CHECK_MS, SWEEP_CHECK_MS } from "../../src/host/limits.ts";
import { cancelRun } from "../../src/host/operations/runs.ts";
import { OutputLog } from "../../src/host/supervisor/output-log.ts";
import { TestRig } from "../support/test-host.ts";
import { temporaryFolder } from "../support/test-store.ts";

const IDLE_MS = 10_000;
const DAY_MS = 86_400_000;

interface House {
  readonly rig: TestRig;
  readonly workersDir: string;
  /** How often the host was found to have nothing to do. */
  readonly idle: () => number;
  readonly identityChecks: () => number;
  readonly state: { working: boolean; streams: number };
}

function keepHouse(options: Partial<HousekeepingOptions> = {}): House {
  const rig = new TestRig();
  const workersDir = temporaryFolder();
  const state = { working: false, streams: 0 };
  const output = new OutputLog(workersDir);
  let idle = 0;
  let identityChecks = 0;
  const house = new Housekeeping({
    host: rig.host,
    supervisor: { removeLogs: (isKnown) => output.removeUnless(isKnown) },
    activity: new Activity(rig.at.clock),
    idleMs: IDLE_MS,
    retentionMs: DAY_MS,
    isWorking: () => state.working,
    openStreams: () => state.streams,
    checkIdentity: () => {
      identityChecks += 1;
    },
    onIdle: () => {
      idle += 1;
    },
    ...options,
  });
  onTestFinished(() => house.stop());
  return {
    rig,
    workersDir,
    state,
    idle: () => idle,
    identityChecks: () => identityChecks,
  };
}

describe("a host with nothing to do", () => {
  test("is told so when its time is up, and not before", () => {
    const { rig, idle } = keepHouse();
    rig.at.clock.advance(IDLE_MS - IDLE_CHECK_MS);
    expect(idle()).toBe(0);
    rig.at.clock.advance(IDLE_CHECK_MS);
    expect(idle()).toBe(1);
  });

  test("is one whose runs wait for an answer that may come at any time", async () => {
    const { rig, idle } = keepHouse();
    const worker = await rig.running("ask");
    await worker.ask();
    rig.at.clock.advance(IDLE_MS);
    expect(idle()).toBe(1);
  });
});

describe("a host stays", () => {
  test.each([
    ["a stream is attached", (house: House) => void (house.state.streams = 1)],
    ["a run is being started or executes", (house: House) => void (house.state.working = true)],
    ["a run is queued", (house: House) => house.rig.admit()],
    [
      "a run is queued for later",
      (house: House) => house.rig.admit({ notBefore: house.rig.at.clock.now() + DAY_MS }),
    ],
    [
      "a question has a deadline",
      async (house: House) => (await house.rig.running("ask")).ask({ timeoutMs: DAY_MS }),
    ],
    ["a run sleeps", async (house: House) => (await house.rig.running("nap")).wait(DAY_MS)],
  ])("while %s, and its time begins anew afterwards", async (_, occupy) => {
    const house = keepHouse();
    await occupy(house);
    house.rig.at.clock.advance(3 * IDLE_MS);
    expect(house.idle()).toBe(0);
  });

  test("as long again after the last stream has ended", () => {
    const { rig, idle, state } = keepHouse();
    state.streams = 1;
    rig.at.clock.advance(IDLE_MS);
    state.streams = 0;
    rig.at.clock.advance(IDLE_MS - IDLE_CHECK_MS);
    expect(idle()).toBe(0);
    rig.at.clock.advance(2 * IDLE_CHECK_MS);
    expect(idle()).toBeGreaterThan(0);
  });
});

describe("a host that serves", () => {
  test("compares its files every five seconds", () => {
    const { rig, identityChecks } = keepHouse();
    rig.at.clock.advance(3 * IDENTITY_CHECK_MS);
    expect(identityChecks()).toBe(3);
  });

  test("sweeps once a day what ended long ago, with the output that belongs to it", async () => {
    const { rig, workersDir } = keepHouse();
    const worker = await rig.running("hub");
    const { runId } = worker;
    await rig.sound(cancelRun(rig.host, rig.asked("CancelRun"), { runId, note: "" }));
    await rig.exit(worker.proof.workerId);
    const output = join(workersDir, `${worker.proof.workerId}.out`);
    writeFileSync(output, "");
    writeFileSync(join(workersDir, "notes.txt"), "somebody else's");
    rig.at.clock.advance(SWEEP_CHECK_MS);
    await expect.poll(() => rig.reader.commands.get(sweepKey(rig))).toBeDefined();
    expect(rig.reader.runs.get(runId)).toBeDefined();
    expect(existsSync(output)).toBe(true);
    rig.at.clock.jump(2 * DAY_MS);
    await expect.poll(() => rig.reader.runs.get(runId)).toBeUndefined();
    await expect.poll(() => existsSync(output)).toBe(false);
    expect(existsSync(join(workersDir, "notes.txt"))).toBe(true);
  });

  test("never sweeps what is protected, however many days go by", async () => {
    const { rig, idle } = keepHouse();
    const asking = await rig.running("ask");
    await asking.ask();
    const acting = await rig.running("deploy");
    await acting.act();
    await rig.sound(cancelRun(rig.host, rig.asked("CancelRun"), { runId: acting.runId, note: "" }));
    await rig.exit(acting.proof.workerId);
    const ended = await rig.running("hub");
    await rig.sound(cancelRun(rig.host, rig.asked("CancelRun"), { runId: ended.runId, note: "" }));
    await rig.exit(ended.proof.workerId);
    for (let day = 0; day < 3; day += 1) {
      rig.at.clock.jump(400 * DAY_MS);
      rig.at.clock.advance(SWEEP_CHECK_MS);
      await expect.poll(() => rig.reader.commands.get(sweepKey(rig))).toBeDefined();
    }
    expect(idle()).toBeGreaterThan(0);
    expect(rig.reader.runs.get(ended.runId)).toBeUndefined();
    expect(rig.run(asking.runId).status).toBe("waiting");
    expect(rig.reader.effects.ofRun(acting.runId)[0]?.status).toBe("ambiguous");
  });

  test("does not sweep while runs execute", async () => {
    const { rig, state } = keepHouse();
    state.working = true;
    rig.at.clock.advance(3 * SWEEP_CHECK_MS);
    expect(rig.reader.commands.get(sweepKey(rig))).toBeUndefined();
  });
});

function sweepKey(rig: TestRig): string {
  return `sweep-${new Date(rig.at.clock.now()).toISOString().slice(0, 10)}`;
}
