import { defineLifecycle } from "./lifecycle.ts";

export type InteractionStatus = "pending" | "accepted" | "expired" | "cancelled";
export type InteractionEvent = "accept" | "expire" | "cancel";

/** A durable request. The first valid answer wins; the others are told which did. */
export const interactionLifecycle = defineLifecycle<InteractionStatus, InteractionEvent>(
  "interaction",
  {
    pending: { accept: ["accepted"], expire: ["expired"], cancel: ["cancelled"] },
    accepted: {},
    expired: {},
    cancelled: {},
  },
);
