/** What keeps a run, in words that get shorter where there is little room. Pure. */
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { SessionRun } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { cut, fromNow, safe } from "../platform/text.ts";
import { DELIVERY, INTERACTION_KIND, msOf, RUN_STATUS, statusWords } from "./run-words.ts";

export interface Doing {
  readonly text: string;
  /** Each shorter than the one before; none where the text may be cut. */
  readonly shorts: readonly string[];
}

interface Frame {
  readonly now: number;
  /** Whose request is the one that is open in the session. */
  readonly front?: RunSummary | undefined;
}

const FRONT_CHARS = 40;

export function doingOf(run: SessionRun, summary: RunSummary, frame: Frame): Doing {
  const { now } = frame;
  switch (summary.status) {
    case RUN_STATUS.paused:
      return { text: "paused: /workflow resume", shorts: ["paused"] };
    case RUN_STATUS.blocked:
      return plain(`blocked: ${safe(summary.detail)}`);
    case RUN_STATUS.waiting:
      return waiting(run, summary, frame) ?? plain(dueWords(summary, now, "goes on") || "waiting");
    case RUN_STATUS.queued:
      return waiting(run, summary, frame) ?? plain(dueWords(summary, now, "starts") || "queued");
    case RUN_STATUS.running:
    case RUN_STATUS.starting:
      if (summary.pauseRequested) return plain("pausing");
      return waiting(run, summary, frame) ?? plain(safe(summary.statusDetail));
    default:
      return plain(endWords(summary));
  }
}

function plain(text: string): Doing {
  return { text, shorts: [] };
}

/** Absent for a run that waits for time alone: when it goes on says more. */
function waiting(run: SessionRun, summary: RunSummary, { front }: Frame): Doing | undefined {
  const what = safe(run.waitsFor);
  const { interactionId, interactionKind: kind, dueAt } = summary;
  if (what === "" || (interactionId === "" && dueAt !== undefined)) return undefined;
  if (run.behind) return behind(what, front);
  const hint = HINTS[kind] ?? "";
  const text = `waits for ${what}${hint}`;
  switch (kind) {
    case INTERACTION_KIND.human_decision:
      return { text, shorts: [`your decision${hint}`, "your decision"] };
    case INTERACTION_KIND.checkpoint:
      return { text, shorts: [`your answer${hint}`, "your answer"] };
    default:
      return { text, shorts: shortWait(summary, what) };
  }
}

function shortWait({ interactionId, delivery }: RunSummary, what: string): readonly string[] {
  if (delivery === DELIVERY.working) return ["model works"];
  // The provider's limit, say, is what matters, although the model would answer.
  const isModel = interactionId !== "" && what.includes("model");
  return isModel ? ["for the model"] : [`for ${what}`, cut(what, 14)];
}

/** One request of a session is open at a time; the user is told which, and how to settle it. */
function behind(what: string, front: RunSummary | undefined): Doing {
  if (front === undefined) {
    return { text: `waits for ${what} (another request comes first)`, shorts: ["behind another"] };
  }
  const title = safe(front.title === "" ? front.workflow : front.title);
  const named = `behind "${cut(title, FRONT_CHARS)}"`;
  const hint = HINTS[front.interactionKind] ?? "";
  const shorts = [
    `${named}${hint}`,
    `behind "${cut(title, 12)}"${hint}`,
    `behind "${cut(title, 12)}"`,
  ];
  return { text: `waits for ${what}, ${named}${hint}`, shorts };
}

/** What the user can type where it is the user who is waited for. */
const HINTS: Readonly<Record<number, string>> = {
  [INTERACTION_KIND.human_decision]: ": /workflow decide",
  [INTERACTION_KIND.checkpoint]: ": /workflow answer",
};

function dueWords(summary: RunSummary, now: number, verb: string): string {
  const due = msOf(summary.dueAt);
  return due === undefined || due <= now ? "" : `${verb} ${fromNow(due, now)}`;
}

function endWords(summary: RunSummary): string {
  const { word } = statusWords(summary);
  return summary.detail === "" ? word : `${word}: ${safe(summary.detail)}`;
}
