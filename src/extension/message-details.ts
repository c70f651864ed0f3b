/** What a custom message of ours carries beside its text: plain JSON, never sent to a model. */

/** Pi's `customType` of every message of ours. */
export const MESSAGE_TYPE = "workflow";

export interface ChoiceDetails {
  readonly id: string;
  readonly label: string;
}

export interface MessageDetails {
  readonly id: string;
  /** A fork copies entries into another session; there they mean nothing. */
  readonly sessionId: string;
  readonly kind: "step" | "human_decision" | "notification" | "result";
  readonly reason: "first" | "reminder" | "resumed" | "rate_limit" | "model_error";
  readonly runId: string;
  readonly runTitle: string;
  readonly workflow: string;
  /** Empty for notifications and results. */
  readonly interactionId: string;
  /** Empty for notifications and results. */
  readonly interactionKind: "" | "agent" | "reply" | "checkpoint" | "human_decision";
  /** Empty for a result. */
  readonly node: string;
  readonly summary: string;
  readonly choices: readonly ChoiceDetails[];
  /** ISO time; empty when there is none. */
  readonly deadlineAt: string;
  /** With a result: how the run ended, for example "timed_out"; else empty. */
  readonly runStatus: string;
}

/** The details of an entry of ours; absent when it is somebody else's or broken. */
export function readDetails(details: unknown): MessageDetails | undefined {
  if (typeof details !== "object" || details === null) return undefined;
  const { id, sessionId, kind } = details as Partial<Record<keyof MessageDetails, unknown>>;
  const isOurs = [id, sessionId, kind].every((field) => typeof field === "string");
  return isOurs ? (details as MessageDetails) : undefined;
}
