import { defineLifecycle } from "./lifecycle.ts";

export type AttemptStatus =
  | "running"
  | "waiting"
  | "ok"
  | "failed"
  | "timed_out"
  | "interrupted"
  | "cancelled";

export type AttemptEvent = "park" | "succeed" | "fail" | "time_out" | "interrupt" | "cancel";

/**
 * One try of one visit. `waiting` is a try that an answer, a timer or the
 * resolution of an effect will end; `interrupted` is one that ended without
 * evidence, so that another follows.
 */
export const attemptLifecycle = defineLifecycle<AttemptStatus, AttemptEvent>("attempt", {
  running: {
    park: ["waiting"],
    succeed: ["ok"],
    fail: ["failed"],
    time_out: ["timed_out"],
    interrupt: ["interrupted"],
    cancel: ["cancelled"],
  },
  waiting: {
    succeed: ["ok"],
    fail: ["failed"],
    time_out: ["timed_out"],
    interrupt: ["interrupted"],
    cancel: ["cancelled"],
  },
  ok: {},
  failed: {},
  timed_out: {},
  interrupted: {},
  cancelled: {},
});
