/** A durable request that somebody outside the worker answers, as its node built it. */
export interface InteractionRequest {
  readonly kind: "agent" | "reply" | "checkpoint" | "human_decision";
  /** One line that says what is asked. */
  readonly summary: string;
  readonly requestJson: string;
  /** JSON Schema of the answer. */
  readonly schemaJson?: string;
  /** With agent and reply: what the model is asked. */
  readonly prompt?: string;
  /** With agent: what a valid result looks like, in words. */
  readonly expectedOutput?: string;
  readonly allowedTools?: readonly string[];
  /** With reply: longest reply, in characters. */
  readonly replyCharsMax?: number;
  /** With human_decision: the answers that are allowed. */
  readonly choices?: readonly ChoiceRequest[];
  /** With human_decision: who is meant to decide. */
  readonly audience?: string;
  /** With human_decision: the answer that is given when nobody decides in time. */
  readonly onTimeout?: { readonly afterMs: number; readonly responseJson: string };
  readonly model?: ModelRequest;
}

export interface ChoiceRequest {
  readonly id: string;
  readonly label: string;
  readonly input?: {
    readonly name: string;
    readonly prompt: string;
    readonly minLength: number;
    readonly maxLength: number;
  };
}

export interface ModelRequest {
  readonly provider?: string;
  readonly model?: string;
  readonly args?: readonly string[];
}

/** A summary is one line of a list. */
const SUMMARY_MAX = 500;

/** A text as one line; throws when nothing is left of it. */
export function oneLine(text: unknown, place: string): string {
  const line = requireText(text, place)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  if (line === "") throw new TypeError(`${place}: must not be empty`);
  return line.length <= SUMMARY_MAX ? line : `${line.slice(0, SUMMARY_MAX).toWellFormed()}…`;
}

/** What a function of an author made, which its types do not bind to be a text. */
export function requireText(text: unknown, place: string): string {
  if (typeof text !== "string")
    throw new TypeError(`${place}: must be a text, not ${kindOf(text)}`);
  return text.toWellFormed();
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
}

/** A text that says something. */
export function requireWords(text: unknown, place: string): string {
  const words = requireText(text, place);
  if (words.trim() === "") throw new TypeError(`${place}: must not be empty`);
  return words;
}
