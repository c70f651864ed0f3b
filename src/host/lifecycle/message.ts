import { defineLifecycle } from "./lifecycle.ts";

export type MessageStatus = "pending" | "offered" | "delivered" | "cancelled" | "superseded";
export type MessageEvent = "offer" | "see" | "cancel" | "supersede";

/**
 * Content that must appear in one session. `offer` hands it to whoever holds the
 * session, `see` is the proof that it stands on the branch. An open one that is
 * cancelled may yet turn out to have been written: that changes nothing.
 * `supersede` is a request that was seen, is gone from the branch, and is shown
 * again by another message; a message never returns to an earlier status.
 */
export const messageLifecycle = defineLifecycle<MessageStatus, MessageEvent>("message", {
  pending: { offer: ["offered"], cancel: ["cancelled"] },
  offered: { see: ["delivered"], cancel: ["cancelled"] },
  delivered: { supersede: ["superseded"] },
  cancelled: {},
  superseded: {},
});
