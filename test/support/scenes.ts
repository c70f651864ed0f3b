import { cancelRun, pauseRun, resumeRun } from "../../src/host/operations/runs.ts";
import type { CommandResult } from "../../src/host/store/doors.ts";
import { askingModel, choose, DECISION, deliver } from "./session-scenes.ts";
import { shown, submit, validating } from "./session-scenes.ts";
import type { TestRig } from "./test-host.ts";
import { FAILED, next, OK } from "./test-worker.ts";

export function pause(rig: TestRig, runId: string, now = false): Promise<CommandResult> {
  return rig.sound(pauseRun(rig.host, rig.asked("PauseRun"), { runId, now }));
}

export function resume(rig: TestRig, runId: string): Promise<CommandResult> {
  const request = { runId, sourcePolicy: "unchanged" as const };
  return rig.sound(resumeRun(rig.host, rig.asked("ResumeRun"), request));
}

export function cancel(rig: TestRig, runId: string, note = ""): Promise<CommandResult> {
  return rig.sound(cancelRun(rig.host, rig.asked("CancelRun"), { runId, note }));
}

/** Effects of the run, as status and whether an earlier outcome is unknown. */
export function effects(rig: TestRig, runId: string): readonly [string, boolean][] {
  return rig.reader.effects.ofRun(runId).map((one) => [one.status, one.unknownBefore]);
}

type Scene = (rig: TestRig) => Promise<string>;

/** One way into every status that is not terminal. */
export const SCENES: Readonly<Record<string, Scene>> = {
  queued: (rig) => rig.admit(),
  starting: async (rig) => {
    const runId = await rig.admit();
    await rig.launch(runId);
    return runId;
  },
  running: async (rig) => (await rig.running()).runId,
  "running with an idempotent effect": async (rig) => {
    const worker = await rig.running("mail");
    await worker.act();
    return worker.runId;
  },
  "running with a manual effect": async (rig) => {
    const worker = await rig.running("deploy");
    await worker.act();
    return worker.runId;
  },
  "running and only routing": async (rig) => {
    const worker = await rig.running();
    await worker.judge("failed");
    return (await rig.relaunch(worker.runId)).runId;
  },
  "running and pausing": async (rig) => {
    const worker = await rig.running("mail");
    await worker.act();
    await pause(rig, worker.runId);
    return worker.runId;
  },
  "waiting for an answer": async (rig) => {
    const worker = await rig.running("ask");
    await worker.ask({ timeoutMs: 60_000 });
    return worker.runId;
  },
  "waiting for a timer": async (rig) => {
    const worker = await rig.running("nap");
    await worker.wait(60_000);
    return worker.runId;
  },
  "waiting for another try": async (rig) => {
    const worker = await rig.running("flaky");
    await worker.wait(60_000, FAILED);
    return worker.runId;
  },
  paused: async (rig) => {
    const { runId } = await rig.running();
    await pause(rig, runId);
    return runId;
  },
  "paused and waiting": async (rig) => {
    const worker = await rig.running("ask");
    await worker.ask();
    await pause(rig, worker.runId);
    return worker.runId;
  },
  "blocked on its sources": async (rig) => {
    const worker = await rig.running();
    await worker.block({ reason: "source_changed", detail: "changed", changedFiles: ["/x.ts"] });
    return worker.runId;
  },
  "blocked on an effect": async (rig) => {
    const worker = await rig.running("deploy");
    await worker.act();
    await rig.lose(worker);
    return worker.runId;
  },
  "queued with a pending effect": async (rig) => {
    const worker = await rig.running("mail");
    await worker.act();
    await rig.lose(worker);
    return worker.runId;
  },
  "waiting for a model": async (rig) => (await askingModel(rig)).runId,
  "waiting for a model that works on it": async (rig) => {
    const { runId, interactionId } = await askingModel(rig);
    await deliver(rig, interactionId);
    return runId;
  },
  "waiting for a person": async (rig) => {
    const worker = await shown(rig, "choose");
    await worker.ask(DECISION);
    return worker.runId;
  },
  "queued for a validation": async (rig) => {
    const { runId, interactionId } = await askingModel(rig);
    await submit(rig, interactionId);
    return runId;
  },
  validating: async (rig) => (await validating(rig)).worker.runId,
  "running with an accepted result": async (rig) => {
    const { worker } = await validating(rig);
    await worker.advance(OK, next("end"));
    return worker.runId;
  },
  "running with a decision": async (rig) => {
    const worker = await rig.running("choose");
    await choose(rig, await worker.ask(DECISION), "yes");
    return (await rig.relaunch(worker.runId)).runId;
  },
  "paused while a model was asked": async (rig) => {
    const { runId } = await askingModel(rig);
    await pause(rig, runId);
    return runId;
  },
  "running with an expired claim": async (rig) => {
    const { runId } = await rig.running();
    rig.at.leaseAdvance(30_000);
    return runId;
  },
};

/** Brings a new run into the named state. */
export function arrange(rig: TestRig, name: string): Promise<string> {
  const scene = SCENES[name];
  if (scene === undefined) throw new Error(`no scene ${name}`);
  return scene(rig);
}
