/** Reads the active branch: where messages of ours stand, and what a model answered to them. */
import { MESSAGE_TYPE, readDetails } from "./message-details.ts";
import { classifyError } from "./turn-error.ts";
import type { TurnFact } from "./turn-facts.ts";

/** As much of one of Pi's entries as is read here. */
export interface BranchEntry {
  readonly type: string;
  readonly id: string;
  readonly customType?: string;
  readonly details?: unknown;
  readonly message?: unknown;
}

export interface AssistantAnswer {
  readonly text: string;
  readonly stopReason: string;
  readonly errorMessage: string;
}

/** Id of the entry of each message of ours on the branch. Those copied from another session are none. */
export function ownEntries(
  branch: readonly BranchEntry[],
  sessionId: string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of branch) {
    const details = entry.customType === MESSAGE_TYPE ? readDetails(entry.details) : undefined;
    if (entry.type === "custom_message" && details?.sessionId === sessionId) {
      found.set(details.id, entry.id);
    }
  }
  return found;
}

/** Pi writes a session's file with its first user or assistant entry; before that all is in memory. */
export function isWritten(branch: readonly BranchEntry[]): boolean {
  return branch.some((entry) => ["user", "assistant"].includes(roleOf(entry)));
}

/** The last assistant entry after the message and before the next one of the user or of ours. */
export function answerTo(
  branch: readonly BranchEntry[],
  entryId: string,
): AssistantAnswer | undefined {
  const start = branch.findIndex((entry) => entry.id === entryId);
  if (start < 0) return undefined;
  let answer: AssistantAnswer | undefined;
  for (const entry of branch.slice(start + 1)) {
    if (isBoundary(entry)) break;
    if (roleOf(entry) === "assistant") answer = readAnswer(entry.message);
  }
  return answer;
}

/** The last assistant entry of all. */
export function lastAnswer(branch: readonly BranchEntry[]): AssistantAnswer | undefined {
  const entry = branch.findLast((one) => roleOf(one) === "assistant");
  return entry === undefined ? undefined : readAnswer(entry.message);
}

/**
 * The end of a turn that nobody saw, from what stands on the branch. Whether the
 * user stopped it or Pi itself, the branch does not tell: then it is lost.
 */
export function deriveEnd(
  branch: readonly BranchEntry[],
  turn: { readonly messageId: string; readonly entryId: string },
  now: number,
): TurnFact {
  const answer = answerTo(branch, turn.entryId);
  const fact = { ...turn, replyText: "", replyWhole: false };
  if (answer?.stopReason === "error") {
    return { ...fact, end: "failed", error: classifyError(answer.errorMessage, now) };
  }
  if (answer?.stopReason === "stop" || answer?.stopReason === "length") {
    return { ...fact, end: "completed", ...replyOf(answer) };
  }
  return { ...fact, end: "lost" };
}

export function replyOf(
  answer: AssistantAnswer | undefined,
): Pick<TurnFact, "replyText" | "replyWhole"> {
  return { replyText: answer?.text ?? "", replyWhole: answer?.stopReason === "stop" };
}

function isBoundary(entry: BranchEntry): boolean {
  const isOurs = entry.type === "custom_message" && entry.customType === MESSAGE_TYPE;
  return isOurs || roleOf(entry) === "user";
}

function roleOf({ type, message }: BranchEntry): string {
  if (type !== "message" || typeof message !== "object" || message === null) return "";
  return "role" in message && typeof message.role === "string" ? message.role : "";
}

function readAnswer(message: unknown): AssistantAnswer {
  const { content, stopReason, errorMessage } = message as Readonly<Record<string, unknown>>;
  return {
    text: Array.isArray(content) ? content.map(textOf).filter(Boolean).join("\n") : "",
    stopReason: typeof stopReason === "string" ? stopReason : "",
    errorMessage: typeof errorMessage === "string" ? errorMessage : "",
  };
}

function textOf(part: unknown): string {
  if (typeof part !== "object" || part === null || !("text" in part)) return "";
  return typeof part.text === "string" ? part.text : "";
}
