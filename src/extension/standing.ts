/** Who has to act for a run: the user, the model, or nobody now. Pure. */
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { AttachResponse, SessionRun } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { INTERACTION_KIND, RUN_STATUS, statusWords } from "./run-words.ts";
import type { Role } from "./run-words.ts";

interface Sign {
  readonly sign: string;
  readonly role: Role;
}

/** The user has to act. Everywhere the same sign, and no other means this. */
export const YOUR_SIGN: Sign = { sign: "●", role: "warning" };
/** The model has to act, or does. */
export const MODEL_SIGN: Sign = { sign: "◇", role: "accent" };
const NOBODY: Sign = { sign: "○", role: "muted" };

/** True for a request that a person answers, once it is its turn. */
export function isForPerson({ interactionKind }: Pick<RunSummary, "interactionKind">): boolean {
  return (
    interactionKind === INTERACTION_KIND.human_decision ||
    interactionKind === INTERACTION_KIND.checkpoint
  );
}

/** True while the user is the one who is waited for. */
export function needsYou({ summary, behind }: SessionRun): boolean {
  if (summary === undefined) return false;
  if (summary.status === RUN_STATUS.blocked) return true;
  return summary.status === RUN_STATUS.waiting && !behind && isForPerson(summary);
}

/** True while a worker or the model is at it. */
export function isWorking({ summary, behind }: SessionRun): boolean {
  if (summary === undefined) return false;
  const { status, interactionId } = summary;
  if (status === RUN_STATUS.starting || status === RUN_STATUS.running) return true;
  const isAsked = status === RUN_STATUS.waiting && interactionId !== "";
  return isAsked && !behind && !isForPerson(summary);
}

/** The run whose request holds the session's one place; absent when none does. */
export function frontOf(picture: Pick<AttachResponse, "runs"> | undefined): RunSummary | undefined {
  return picture?.runs.find(
    ({ summary, behind }) => (summary?.interactionId ?? "") !== "" && !behind,
  )?.summary;
}

export function signOf(run: SessionRun, summary: RunSummary): Sign {
  if (summary.status !== RUN_STATUS.waiting) return statusWords(summary);
  if (needsYou(run)) return YOUR_SIGN;
  return isWorking(run) ? MODEL_SIGN : NOBODY;
}
