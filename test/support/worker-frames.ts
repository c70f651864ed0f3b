/** Frames that workers send, as far as a test cares what is in them. */
import type { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { AttemptOutcome } from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import { json } from "./fake-worker.ts";
import type { FrameBody } from "./fake-worker.ts";

/** The attempt ended with an output; the edge to `node` is taken. */
export function advance(node: string, effect?: object): FrameBody {
  return {
    case: "advance",
    value: {
      result: {
        outcome: AttemptOutcome.OK,
        outputJson: json({}),
        ...(effect === undefined ? {} : { effect }),
      },
      follow: { case: "next", value: { node } },
    },
  };
}

/** The run ends as failed, for a reason of its own. */
export function fail(name: string): FrameBody {
  const error = { name, message: "for a reason" };
  return {
    case: "advance",
    value: {
      result: { outcome: AttemptOutcome.FAILED, error },
      follow: { case: "end", value: { outcome: AttemptOutcome.FAILED, error } },
    },
  };
}

export function effectBegin(policy: "manual" | "idempotent"): FrameBody {
  const type = policy === "manual" ? "shell" : "mail";
  const value = { key: "key", fingerprint: "f".repeat(64), type, policy, observable: true };
  return { case: "effectBegin", value };
}

export function exiting(failure: { readonly name: string; readonly message: string }): FrameBody {
  return { case: "exiting", value: { reason: failure.message, failure } };
}

export function loadFailed(
  reason: Reason,
  message: string,
  files: readonly string[] = [],
): FrameBody {
  return { case: "loadFailed", value: { reason, message, files: [...files] } };
}
