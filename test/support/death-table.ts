/** Every named point, each with a way on which a process comes by it, and the voyages that come by all of them. */
import { CRASH_POINTS } from "../../src/platform/crash-points.ts";
import type { CrashPoint } from "../../src/platform/crash-points.ts";
import { voyagesOf } from "./deaths.ts";
import type { JourneyName } from "./journeys.ts";

export interface Death {
  readonly on: JourneyName;
  /** Number of the host that dies, when it is not the first. */
  readonly host?: number;
  /** An idempotent effect was being applied: it may be applied a second time under its key. */
  readonly mayRepeat?: readonly string[];
}

const LINE = ["line:write:1"];
const STAMP = ["stamp:stamp:1"];

/** A way on which each transition is committed. */
export const TRANSITIONS: Readonly<Record<string, Death>> = {
  StartRun: { on: "travels" },
  AnswerCheckpoint: { on: "travels" },
  PauseRun: { on: "pauses" },
  ResumeRun: { on: "pauses" },
  CancelRun: { on: "cancels" },
  RestartRun: { on: "cancels" },
  ResolveEffect: { on: "charges" },
  Repair: { on: "housekeeping" },
  Prune: { on: "housekeeping" },
  prune: { on: "housekeeping" },
  epoch: { on: "travels" },
  host_stopped: { on: "stopsHost" },
  launch: { on: "travels" },
  attach: { on: "travels" },
  effect_begin: { on: "travels" },
  effect_process: { on: "travels", mayRepeat: STAMP },
  advance: { on: "travels" },
  wait: { on: "travels" },
  settle: { on: "travels" },
  finish: { on: "travels" },
  worker_exit: { on: "travels" },
  progress: { on: "lingers", mayRepeat: LINE },
  renew: { on: "lingers", mayRepeat: LINE },
  interrupt: { on: "losesWorker" },
  verdict: { on: "exits" },
  block: { on: "edited" },
};

/** The other points, each with all that it is told in detail. */
export const POINTS: Readonly<Record<CrashPoint, Readonly<Record<string, Death>>>> = {
  "commit.before": TRANSITIONS,
  "commit.after": TRANSITIONS,
  "ack.before": {
    effectBegin: { on: "travels" },
    advance: { on: "travels" },
    interaction: { on: "travels" },
    // A new run is attached as it is launched: the first to ask is the worker that routes the answer.
    ready: { on: "travels" },
    wait: { on: "travels" },
  },
  "spawn.after": { "": { on: "travels" } },
  "effect.performed": { "": { on: "travels", mayRepeat: LINE } },
  "proposal.before": {
    plan: { on: "travels" },
    write: { on: "travels", mayRepeat: LINE },
    stamp: { on: "travels", mayRepeat: STAMP },
    ask: { on: "travels" },
    rest: { on: "travels" },
    done: { on: "travels" },
  },
  "proposal.after": {
    advance: { on: "travels" },
    interaction: { on: "travels" },
    wait: { on: "travels" },
  },
  "recovery.step": {
    reaped: { on: "losesHost", host: 2 },
    interrupted: { on: "losesHost", host: 2 },
    exits_recorded: { on: "losesHost", host: 2 },
    settled: { on: "losesHost", host: 2 },
  },
};

/** Every death, in the order of the points. */
const DEATHS = CRASH_POINTS.flatMap((point) =>
  Object.entries(POINTS[point]).map(([detail, death]) => ({
    point: detail === "" ? point : `${point}:${detail}`,
    death,
  })),
);

export const VOYAGES = voyagesOf(DEATHS);

/** An allowed number of applications counts as one; none at all is never allowed. */
export function once(applied = 0, max: number): number {
  return applied > 0 && applied <= max ? 1 : applied;
}
