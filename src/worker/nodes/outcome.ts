import { describeError } from "../../workflow/describe-error.ts";
import type { ErrorDescription } from "../../workflow/describe-error.ts";
import { isRetryable } from "../../workflow/errors.ts";
import { toJson, utf8Bytes } from "../../workflow/json.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { EffectOutcome, NodeOutcome, NodeTools } from "./executor.ts";

/** The JSON text of what a node returned; throws with the place of what does not fit. */
export function outputText(tools: NodeTools, value: unknown): string {
  return JSON.stringify(toJson(value, `outputs.${tools.node}`));
}

/** A plain failure. */
export function failed(thrown: unknown, effect?: EffectOutcome): NodeOutcome {
  return {
    kind: "failed",
    error: describeError(thrown),
    retryable: isRetryable(thrown),
    ...(effect === undefined ? {} : { effect }),
  };
}

/** What a throw of author code means, where no effect was begun: an abort explains it. */
export function failedOrAborted(tools: NodeTools, thrown: unknown): NodeOutcome {
  return aborted(tools, thrown) ?? failed(thrown);
}

/**
 * The outcome of an aborted attempt, or `undefined` when the signal is quiet.
 * Only a timeout is an outcome of the attempt; everything else belongs to the
 * run, and whoever aborted it tells the host.
 */
export function aborted(
  tools: NodeTools,
  thrown: unknown,
  effect?: EffectOutcome,
): NodeOutcome | undefined {
  if (!tools.signal.aborted) return undefined;
  if (!isTimeout(tools.signal)) return { kind: "stopped" };
  const error = timeoutError(tools.signal, thrown);
  return { kind: "timed_out", error, ...(effect === undefined ? {} : { effect }) };
}

export function isTimeout(signal: AbortSignal): boolean {
  return signal.aborted && nameOf(signal.reason) === "TimeoutError";
}

/** The timeout is what happened; what the author's code made of it may explain where. */
function timeoutError({ reason }: AbortSignal, thrown: unknown): ErrorDescription {
  const error = describeError(reason);
  if (thrown === undefined || thrown === reason) return error;
  const { name, message } = describeError(thrown);
  return { ...error, details: { ...error.details, thrown: { name, message } } };
}

function nameOf(reason: unknown): string {
  return describeError(reason).name;
}

/** A receipt is kept for as long as the run; a large one would only repeat the output. */
const RECEIPT_BYTES_MAX = 8 * 1024;

/** What is kept of an applied action: its output, or for a large one its digest and size. */
export function receiptOf(outputJson: string): string {
  const bytes = utf8Bytes(outputJson);
  if (bytes <= RECEIPT_BYTES_MAX) return outputJson;
  return JSON.stringify({ digest: sha256Hex(outputJson), bytes });
}
