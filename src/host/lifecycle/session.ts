import { defineLifecycle } from "./lifecycle.ts";

export type SessionStatus = "detached" | "attached";
export type SessionEvent = "attach" | "take_over" | "detach";

/**
 * Whether somebody holds a Pi session. `take_over` gives it to another
 * attachment: a standby that is promoted, or one whose user asked for it.
 */
export const sessionLifecycle = defineLifecycle<SessionStatus, SessionEvent>("session", {
  detached: { attach: ["attached"] },
  attached: { take_over: ["attached"], detach: ["detached"] },
});
