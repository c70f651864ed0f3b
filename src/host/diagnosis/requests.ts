import type { RunStatus } from "../lifecycle/run.ts";
import type { InteractionRecord, MessageRecord, SubmissionRecord } from "../records-sessions.ts";
import type { Facts } from "./facts.ts";
import type { Contradiction } from "./finding.ts";
import { asking, rejecting, reopening, telling, withdrawing } from "./mends.ts";
import { isTerminal } from "./ownership.ts";

/** Checks of what is asked of people and models, and of what their sessions know of it. */
export const REQUESTS: readonly ((facts: Facts) => readonly Contradiction[])[] = [
  validatingMeansActive,
  submissionIsAnswer,
  decisionIsAChoice,
  openRequestIsAsked,
  openMessageHasRequest,
  endIsTold,
];

const VALIDATING: ReadonlySet<RunStatus> = new Set(["queued", "starting", "running"]);

function submissionBeingValidated({ submissions }: Facts): SubmissionRecord | undefined {
  return submissions.find((one) => one.status === "validating");
}

/** A submission is validated, its request says so, and its run is on the way to a worker. */
function validatingMeansActive(facts: Facts): readonly Contradiction[] {
  if (isTerminal(facts)) return [];
  const { run, interaction } = facts;
  const submission = submissionBeingValidated(facts);
  const says = interaction?.status === "validating" ? interaction : undefined;
  if (submission === undefined) return says === undefined ? [] : [validatesNothing(facts, says)];
  const found = (message: string, isProven: boolean): Contradiction => ({
    invariant: "validating_means_active",
    message: `submission ${submission.submissionId} is validated, but ${message}`,
    ...(isProven ? { mend: rejecting(submission, "interrupted") } : {}),
  });
  if (!VALIDATING.has(run.status)) return [found(`the run is ${run.status}`, true)];
  if (run.activation !== "validate") return [found("the run does something else", false)];
  if (says?.interactionId === submission.interactionId) return [];
  return [found(`interaction ${submission.interactionId} is not`, false)];
}

function validatesNothing({ run }: Facts, interaction: InteractionRecord): Contradiction {
  const message = `interaction ${interaction.interactionId} is validating, but nothing is submitted`;
  const invariant = "validating_means_active";
  if (VALIDATING.has(run.status)) return { invariant, message };
  return { invariant, message, mend: reopening(interaction) };
}

/** An accepted submission answered its request and ended its attempt, and is the only one. */
function submissionIsAnswer({
  submissions,
  interactions,
  attempts,
}: Facts): readonly Contradiction[] {
  const accepted = submissions.filter((one) => one.status === "accepted");
  const requests = new Map(interactions.map((one) => [one.interactionId, one]));
  const ends = new Map(attempts.map((one) => [one.attemptId, one.status]));
  return [
    ...accepted
      .filter(
        ({ interactionId, attemptId }) =>
          requests.get(interactionId)?.status !== "accepted" || ends.get(attemptId) !== "ok",
      )
      .map(({ submissionId, interactionId }) =>
        noAnswer(
          `submission ${submissionId} is accepted, but it answered ${interactionId} for nobody`,
        ),
      ),
    ...interactions
      .filter((one) => one.kind === "agent" && one.status === "accepted")
      .map(({ interactionId }) => ({
        interactionId,
        count: accepted.filter((one) => one.interactionId === interactionId).length,
      }))
      .filter(({ count }) => count !== 1)
      .map(({ interactionId, count }) =>
        noAnswer(`interaction ${interactionId} is answered by ${count} accepted submissions`),
      ),
  ];
}

function noAnswer(message: string): Contradiction {
  return { invariant: "submission_is_answer", message };
}

function decisionIsAChoice({ misdecided }: Facts): readonly Contradiction[] {
  return misdecided.map((interactionId) => ({
    invariant: "decision_is_a_choice" as const,
    message: `interaction ${interactionId} was decided with none of its choices`,
  }));
}

/** What a waiting run asks is on its way to its session, or stands there and is worked on. */
function openRequestIsAsked(facts: Facts): readonly Contradiction[] {
  const { run, interaction, messages } = facts;
  if (run.status !== "waiting" || interaction?.status !== "pending") return [];
  if (run.mode === "headless" && !isForModel(interaction)) return [];
  const newest = messages.findLast((one) => one.interactionId === interaction.interactionId);
  if (isOnItsWay(newest) || (newest !== undefined && stands(facts, interaction, newest))) return [];
  const message = `the session is not asked for interaction ${interaction.interactionId} any more`;
  const mend = asking(interaction, newest !== undefined);
  return [{ invariant: "open_request_is_asked", message, mend }];
}

/** People look at it when they like; a model works on it, or is about to when it was only just seen. */
function stands({ turn }: Facts, interaction: InteractionRecord, message: MessageRecord): boolean {
  if (message.status !== "delivered") return false;
  return !isForModel(interaction) || turn === undefined || turn.status === "open";
}

function isForModel({ kind }: InteractionRecord): boolean {
  return kind === "agent" || kind === "reply";
}

/** Nothing is to be shown that nobody may answer. Of an ended run see what it leaves open. */
function openMessageHasRequest(facts: Facts): readonly Contradiction[] {
  if (isTerminal(facts)) return [];
  const { run, interaction, messages } = facts;
  const isShown = run.status !== "paused" && run.status !== "blocked";
  return messages
    .filter((one) => asksForSomething(one) && isOnItsWay(one))
    .filter((one) => !isShown || one.interactionId !== interaction?.interactionId)
    .map((one) => ({
      invariant: "open_message_has_request" as const,
      message: `message ${one.messageId} is to be shown, but nobody may answer it`,
      mend: withdrawing(one),
    }));
}

function endIsTold(facts: Facts): readonly Contradiction[] {
  const { run, messages } = facts;
  if (!isTerminal(facts) || run.mode === "headless") return [];
  if (messages.some((one) => one.kind === "result")) return [];
  const message = `the run is ${run.status}, and its session was not told`;
  return [{ invariant: "end_is_told", message, mend: telling() }];
}

function asksForSomething({ kind }: MessageRecord): boolean {
  return kind === "step" || kind === "human_decision";
}

function isOnItsWay(message: MessageRecord | undefined): boolean {
  return message?.status === "pending" || message?.status === "offered";
}
