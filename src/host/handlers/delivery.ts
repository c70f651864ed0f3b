/** How far a session has come with an open request. */
import { DeliveryState } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { Instant } from "../records.ts";
import type { InteractionRecord, MessageRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";

export interface Delivery {
  readonly state: DeliveryState;
  /** With HELD: when it goes on. */
  readonly heldUntil?: Instant;
}

/** What the rows tell about the newest message of a request. */
export function deliveryOf(reader: Reader, interaction: InteractionRecord): Delivery {
  const { interactionId, status } = interaction;
  if (status !== "pending" && status !== "validating") return { state: DeliveryState.UNSPECIFIED };
  if (reader.turns.openOfInteraction(interactionId) !== undefined)
    return { state: DeliveryState.WORKING };
  const message = reader.messages.newestOfInteraction(interactionId);
  if (message === undefined) return { state: DeliveryState.UNSPECIFIED };
  if (message.status === "pending") return waiting(reader, message);
  return { state: STATES[message.status] };
}

const STATES: Readonly<Record<Exclude<MessageRecord["status"], "pending">, DeliveryState>> = {
  offered: DeliveryState.OFFERED,
  delivered: DeliveryState.DELIVERED,
  cancelled: DeliveryState.UNSPECIFIED,
  superseded: DeliveryState.UNSPECIFIED,
};

/** A provider's limit holds back all steps of a session, a back-off only its own. */
function waiting(reader: Reader, { sessionId, availableAt, kind }: MessageRecord): Delivery {
  const held = kind === "step" ? reader.sessions.get(sessionId)?.heldUntil : undefined;
  const heldUntil = Math.max(held ?? 0, availableAt ?? 0);
  return heldUntil === 0
    ? { state: DeliveryState.WAITING }
    : { state: DeliveryState.HELD, heldUntil };
}
