import { defineLifecycle } from "./lifecycle.ts";

export type RunStatus =
  | "queued"
  | "starting"
  | "running"
  | "waiting"
  | "paused"
  | "blocked"
  | "completed"
  | "failed"
  | "timed_out"
  | "cancelled";

export type RunEvent =
  | "launch"
  | "attach"
  | "advance"
  | "finish"
  | "wait"
  | "settle"
  | "validate"
  | "reject"
  | "interrupt"
  | "verdict"
  | "pause"
  | "resume"
  | "block"
  | "resolve"
  | "cancel";

/**
 * The whole life of a run (state.md, "Run status"). `pause` on a running run
 * whose effect is being applied only notes the request; the next `advance`,
 * `wait` or `verdict` then lands in `paused`. `resolve` is a person settling the
 * last ambiguous effect. `validate` queues a submission for a worker, and `reject`
 * sends its run back to wait (and `settle` follows in the same transaction when
 * the deadline passed meanwhile). A waiting run is blocked when its session loses one model turn after the other.
 */
export const runLifecycle = defineLifecycle<RunStatus, RunEvent>("run", {
  queued: {
    launch: ["starting"],
    reject: ["waiting"],
    pause: ["paused"],
    block: ["blocked"],
    cancel: ["cancelled"],
  },
  starting: {
    attach: ["running"],
    reject: ["waiting"],
    interrupt: ["queued"],
    pause: ["paused"],
    block: ["blocked"],
    cancel: ["cancelled"],
  },
  running: {
    advance: ["running", "paused"],
    finish: ["completed", "failed", "timed_out"],
    wait: ["waiting", "paused"],
    reject: ["waiting"],
    interrupt: ["queued", "paused"],
    verdict: ["queued", "paused"],
    pause: ["paused", "running"],
    resume: ["running"],
    block: ["blocked"],
    cancel: ["cancelled"],
  },
  waiting: {
    settle: ["queued"],
    validate: ["queued"],
    block: ["blocked"],
    pause: ["paused"],
    cancel: ["cancelled"],
  },
  paused: { resume: ["queued", "waiting"], block: ["blocked"], cancel: ["cancelled"] },
  blocked: { resume: ["queued", "waiting"], resolve: ["queued"], cancel: ["cancelled"] },
  completed: {},
  failed: {},
  timed_out: {},
  cancelled: {},
});

export type BlockReason = "source_changed" | "effect_ambiguous" | "effect_conflict" | "no_progress";
