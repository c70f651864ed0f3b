import type { RunStatus } from "../lifecycle/run.ts";
import type { AttemptRecord, RunRecord } from "../records.ts";
import { isCounted } from "../operations/attempt-rows.ts";
import type { Facts } from "./facts.ts";
import type { Contradiction } from "./finding.ts";
import { losing } from "./mends.ts";
import { isTerminal } from "./ownership.ts";

/** Checks of what a run waits for, and of its effects. */
export const WAITS: readonly ((facts: Facts) => readonly Contradiction[])[] = [
  waitingForOne,
  interactionHasAttempt,
  timerHasAttempt,
  waitingAttemptHasCause,
  answerIsOutput,
  applyingMeansRunning,
  ambiguousHoldsRun,
  pauseWaitsForEffect,
];

function waitingForOne({ run, interaction, timer }: Facts): readonly Contradiction[] {
  const waits = (interaction === undefined ? 0 : 1) + (timer === undefined ? 0 : 1);
  const invariant = "waiting_for_one";
  if (run.status === "waiting" && waits !== 1) {
    return [{ invariant, message: `the run waits for ${waits} things at once, not for one` }];
  }
  if (!IDLE.has(run.status) || waits === 0) return [];
  // While its submission is validated a request is open and its run is not waiting.
  if (waits === 1 && interaction?.status === "validating") return [];
  return [{ invariant, message: `the run is ${run.status} and waits for something all the same` }];
}

const IDLE: ReadonlySet<RunStatus> = new Set(["queued", "starting", "running"]);

function interactionHasAttempt(facts: Facts): readonly Contradiction[] {
  const { interaction, open } = facts;
  if (interaction === undefined || isTerminal(facts)) return [];
  if (open?.attemptId === interaction.attemptId && open.status === "waiting") return [];
  const { interactionId, attemptId } = interaction;
  const message = `interaction ${interactionId} is open, but its attempt ${attemptId} does not wait`;
  return [{ invariant: "wait_has_attempt", message }];
}

/** A wait node's timer is its open attempt's; a back-off's belongs to the one that failed. */
function timerHasAttempt(facts: Facts): readonly Contradiction[] {
  const { timer, open, attempts } = facts;
  if (timer === undefined || isTerminal(facts)) return [];
  const attempt = attempts.find((one) => one.attemptId === timer.attemptId);
  const fits =
    timer.kind === "wait"
      ? open?.attemptId === timer.attemptId && open.status === "waiting"
      : open === undefined && attempt !== undefined && isCounted(attempt);
  if (fits) return [];
  const message = `timer ${timer.timerId} (${timer.kind}) does not fit attempt ${timer.attemptId}`;
  return [{ invariant: "wait_has_attempt", message }];
}

function waitingAttemptHasCause(facts: Facts): readonly Contradiction[] {
  const { run, open, interaction, timer, effects } = facts;
  if (open?.status !== "waiting" || isTerminal(facts)) return [];
  const isHeld = effects.some((effect) => effect.status === "ambiguous");
  const hasCause = interaction !== undefined || timer !== undefined || isHeld;
  if (hasCause && ["waiting", "paused", "blocked"].includes(run.status)) return [];
  if (interaction?.status === "validating") return [];
  const message = `attempt ${open.attemptId} of the ${run.status} run waits for nothing`;
  return [{ invariant: "waiting_attempt_has_cause", message }];
}

function answerIsOutput({ interactions, attempts }: Facts): readonly Contradiction[] {
  const byId = new Map(attempts.map((attempt) => [attempt.attemptId, attempt]));
  return interactions
    .filter((one) => one.status === "accepted" && byId.get(one.attemptId)?.status !== "ok")
    .map(({ interactionId, attemptId }) => ({
      invariant: "answer_is_output" as const,
      message: `interaction ${interactionId} was answered, but attempt ${attemptId} is not ok`,
    }));
}

function applyingMeansRunning(facts: Facts): readonly Contradiction[] {
  const { run, open, claim, effects } = facts;
  if (isTerminal(facts)) return [];
  return effects
    .filter((effect) => effect.status === "applying")
    .filter((effect) => run.status !== "running" || !isAt(open, effect))
    .map((effect) => ({
      invariant: "applying_means_running" as const,
      message: `effect ${effect.effectId} is being applied, but nothing executes its node`,
      ...(claim === undefined && effect.policy === "idempotent" ? { mend: losing(effect) } : {}),
    }));
}

/** A manual effect of unknown outcome keeps its attempt waiting until a person settles it. */
function ambiguousHoldsRun(facts: Facts): readonly Contradiction[] {
  const { run, open, effects } = facts;
  if (isTerminal(facts)) return [];
  const isHeld = open?.status === "waiting" && ["paused", "blocked"].includes(run.status);
  return effects
    .filter((effect) => effect.status === "ambiguous" && effect.policy === "manual" && !isHeld)
    .map((effect) => ({
      invariant: "ambiguous_holds_run" as const,
      message: `effect ${effect.effectId} is ambiguous, but the run is ${run.status}`,
    }));
}

function pauseWaitsForEffect({ run, effects }: Facts): readonly Contradiction[] {
  if (!run.pauseRequested || effects.some((effect) => effect.status === "applying")) return [];
  const message = "a pause is requested, but no effect is being applied that it could wait for";
  return [{ invariant: "pause_waits_for_effect", message }];
}

function isAt(
  attempt: AttemptRecord | undefined,
  { node, visit }: Pick<RunRecord, "node" | "visit">,
): boolean {
  return attempt?.status === "running" && attempt.node === node && attempt.visit === visit;
}
