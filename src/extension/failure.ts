/** Why a call failed, in words for a model or a person who is about to do something about it. */
import { HostUnreachableError } from "../client/host-error.ts";
import { isHostGone, rejectionOf } from "../client/rejection.ts";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { Problem, Rejection } from "../gen/piworkflows/common/v1/error_pb.ts";
import { cut, safe, safeLines } from "../platform/text.ts";

/** `refused`: the host said no. `unreachable`: whether it did anything is unknown. */
export type FailureKind = "refused" | "unreachable" | "stopped" | "failed";

export interface Failure {
  readonly kind: FailureKind;
  readonly text: string;
}

export interface FailureFrame {
  /** What the call was about, for the advice to repeat it: "int_…", "run_…" or a workflow's name. */
  readonly subject: string;
  readonly signal: AbortSignal | undefined;
}

const PROBLEMS_SHOWN = 10;
const TEXT_CHARS = 3_000;

export function describeFailure(error: unknown, { subject, signal }: FailureFrame): Failure {
  const rejection = rejectionOf(error);
  if (rejection !== undefined && rejection.reason !== Reason.HOST_STOPPING) {
    return { kind: "refused", text: refusalText(rejection, subject) };
  }
  const repeat = `Whether the host did it is unknown; repeating is safe (${safe(subject)}).`;
  if (signal?.aborted === true) return { kind: "stopped", text: `Stopped. ${repeat}` };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof HostUnreachableError || isHostGone(error)) {
    return {
      kind: "unreachable",
      text: `The workflow host does not answer: ${cut(safeLines(message), TEXT_CHARS)}\n${repeat}`,
    };
  }
  return { kind: "failed", text: cut(safeLines(message), TEXT_CHARS) };
}

function refusalText(rejection: Rejection, subject: string): string {
  const lines = [
    safeLines(rejection.message),
    ...rejection.problems
      .filter(({ message }) => !rejection.message.includes(message))
      .slice(0, PROBLEMS_SHOWN)
      .map(problemText),
    ...nearNames(rejection),
    ...remedy(rejection, subject),
  ];
  return cut(lines.join("\n"), TEXT_CHARS);
}

function problemText({ file, line, place, message }: Problem): string {
  const where = [file, line === 0 ? "" : String(line)].filter((part) => part !== "").join(":");
  const text = safeLines(message);
  const at = place === "" || message.includes(place) ? "" : ` (${safe(place)})`;
  return `- ${where === "" ? "" : `${safe(where)}: `}${text}${at}`;
}

function nearNames({ names, message, reason }: Rejection): readonly string[] {
  if (reason !== Reason.WORKFLOW_NOT_FOUND) return [];
  const near = names.filter((name) => !message.includes(name));
  return near.length === 0 ? [] : [`Did you mean: ${near.map(safe).join(", ")}?`];
}

function remedy({ reason, names, message }: Rejection, subject: string): readonly string[] {
  const origin = names[0] ?? "";
  switch (reason) {
    case Reason.HUMAN_ONLY:
      return [personText(subject)];
    case Reason.WRONG_SESSION:
      return [
        origin === "" || message.includes(origin) ? "" : `It belongs to session ${safe(origin)}.`,
        "Answer it there, or let the user move the run here: /workflow here RUN.",
      ].filter((line) => line !== "");
    case Reason.SESSION_FENCED:
      return ["Another Pi holds this session. The user takes it back with /workflow here."];
    case Reason.SUBMISSION_IN_PROGRESS:
      return ["Another submission of this request is being checked. Wait for its answer."];
    case Reason.SOURCE_CHANGED:
      return ["The user decides: /workflow resume RUN --recorded-source or --accept-source."];
    case Reason.VERSION_SKEW:
      return ["The host is of another version: pi-workflows host restart, then /reload."];
    default:
      return [];
  }
}

/** How a human decision is answered, for whoever may not. */
export function personText(interactionId: string): string {
  const id = safe(interactionId);
  return (
    `Only a person may decide this. Ask the user to type /workflow decide ${id} in this ` +
    `session, or pi-workflows decide ${id} at a terminal. Do not try to answer it in another way.`
  );
}
