/** Sorts the error of a model's last answer by what is to be done about it. */
import { retryAfterMs } from "./retry-after.ts";

export type TurnErrorKind = "rate_limit" | "usage_limit" | "other";

export interface TurnFailure {
  readonly kind: TurnErrorKind;
  /** The provider's words. */
  readonly message: string;
  /** When the provider said to come back; absent when it did not. */
  readonly retryAfterMs?: number;
}

const MESSAGE_CHARS_MAX = 2_000;

/** The account's allowance is used up: hours, not seconds. */
const USAGE_LIMIT = [
  /usage[\s_-]?limit/i,
  /insufficient[\s_-]quota/i,
  /exceeded your (?:current )?quota/i,
  /\bquota (?:is )?(?:exceeded|exhausted|reached)/i,
  /out of (?:budget|credits?)\b/i,
  /credit balance is too low/i,
  /insufficient (?:credits?|balance|funds)/i,
  /available balance/i,
  /\bbilling\b/i,
  /spend(?:ing)?[\s_-]limit/i,
  /"code"\s*:\s*"?1308(?!\d)/,
  /(?<![a-z0-9])402(?![a-z0-9])/i,
];

/** Too many requests, or the provider is overloaded: seconds to minutes. */
const RATE_LIMIT = [
  /rate[\s_-]?limit/i,
  /too[\s_-]many[\s_-](?:requests|tokens)/i,
  /throttl/i,
  /overloaded/i,
  /server[\s_]busy|servers are currently busy/i,
  /high demand/i,
  /at capacity/i,
  /resource[\s_-]?exhausted/i,
  /server requested \d+s retry delay/i,
  // Part of no longer number or word, such as the id of a request.
  /(?<![a-z0-9])(?:429|529)(?![a-z0-9])/i,
];

export function classifyError(message: string, now: number): TurnFailure {
  const kind = kindOf(message);
  const words = message.trim() === "" ? "the model gave no reason" : message;
  const retry = kind === "other" ? undefined : retryAfterMs(message, now);
  return {
    kind,
    message: words.slice(0, MESSAGE_CHARS_MAX),
    ...(retry === undefined ? {} : { retryAfterMs: retry }),
  };
}

function kindOf(message: string): TurnErrorKind {
  // A used-up allowance is often told as a rate limit too, with the same status.
  if (USAGE_LIMIT.some((pattern) => pattern.test(message))) return "usage_limit";
  return RATE_LIMIT.some((pattern) => pattern.test(message)) ? "rate_limit" : "other";
}
