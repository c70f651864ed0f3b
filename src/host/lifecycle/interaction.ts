import { defineLifecycle } from "./lifecycle.ts";

export type InteractionStatus = "pending" | "validating" | "accepted" | "expired" | "cancelled";
export type InteractionEvent = "submit" | "reject" | "accept" | "expire" | "cancel";

/**
 * A durable request. The first valid answer wins; the others are told which did.
 * Only a request to a model is validated; a rejected submission leaves it open,
 * and one that is being validated is not expired by its deadline.
 */
export const interactionLifecycle = defineLifecycle<InteractionStatus, InteractionEvent>(
  "interaction",
  {
    pending: {
      submit: ["validating"],
      accept: ["accepted"],
      expire: ["expired"],
      cancel: ["cancelled"],
    },
    validating: { accept: ["accepted"], reject: ["pending"], cancel: ["cancelled"] },
    accepted: {},
    expired: {},
    cancelled: {},
  },
);
