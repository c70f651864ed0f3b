import { defineLifecycle } from "./lifecycle.ts";

export type TurnStatus = "open" | "completed" | "aborted" | "stopped" | "failed" | "lost";
export type TurnEvent = "complete" | "abort" | "stop" | "fail" | "lose";

/**
 * One model turn that a message started. `abort` is the user's own, `stop` is one
 * that the host asked for, `lose` one whose end nobody saw.
 */
export const turnLifecycle = defineLifecycle<TurnStatus, TurnEvent>("turn", {
  open: {
    complete: ["completed"],
    abort: ["aborted"],
    stop: ["stopped"],
    fail: ["failed"],
    lose: ["lost"],
  },
  completed: {},
  aborted: {},
  stopped: {},
  failed: {},
  lost: {},
});
