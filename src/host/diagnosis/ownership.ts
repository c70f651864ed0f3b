import { runLifecycle } from "../lifecycle/run.ts";
import type { Facts } from "./facts.ts";
import type { Contradiction, Mend } from "./finding.ts";
import {
  abandoning,
  closingAttempt,
  closingInteraction,
  closingTimer,
  interrupting,
  rejecting,
  releasing,
  requeueing,
  withdrawing,
} from "./mends.ts";

/** Checks of who may act on a run and what it executes. */
export const OWNERSHIP: readonly ((facts: Facts) => readonly Contradiction[])[] = [
  terminalLeavesNothingOpen,
  claimMeansActive,
  claimIsNewest,
  claimHasWorker,
  activeHasPosition,
  idleExecutesNothing,
];

export function isTerminal({ run }: Facts): boolean {
  return runLifecycle.isFinal(run.status);
}

function isActive({ run }: Facts): boolean {
  return run.status === "starting" || run.status === "running";
}

function terminalLeavesNothingOpen(facts: Facts): readonly Contradiction[] {
  if (!isTerminal(facts)) return [];
  const { run, claim, open, interaction, timer, effects } = facts;
  const left = (what: string, mend: Mend): Contradiction => ({
    invariant: "terminal_leaves_nothing_open",
    message: `the run is ${run.status}, but ${what} is open`,
    mend,
  });
  return [
    ...(claim === undefined ? [] : [left(`its claim ${claim.generation}`, releasing(claim))]),
    ...(open === undefined ? [] : [left(`attempt ${open.attemptId}`, closingAttempt(open))]),
    ...(interaction === undefined
      ? []
      : [left(`interaction ${interaction.interactionId}`, closingInteraction(interaction))]),
    ...facts.submissions
      .filter((one) => one.status === "validating")
      .map((one) => left(`submission ${one.submissionId}`, rejecting(one, "cancelled"))),
    ...facts.messages
      .filter((one) => one.interactionId !== undefined)
      .filter((one) => one.status === "pending" || one.status === "offered")
      .map((one) => left(`message ${one.messageId}`, withdrawing(one))),
    ...(timer === undefined ? [] : [left(`timer ${timer.timerId}`, closingTimer(timer))]),
    ...effects
      .filter((effect) => effect.status === "pending" || effect.status === "applying")
      .map((effect) => left(`effect ${effect.effectId}`, abandoning(effect))),
  ];
}

function claimMeansActive(facts: Facts): readonly Contradiction[] {
  const { run, claim } = facts;
  if (isTerminal(facts) || (claim !== undefined) === isActive(facts)) return [];
  const invariant = "claim_means_active";
  return claim === undefined
    ? [{ invariant, message: `the run is ${run.status} without a claim`, mend: requeueing() }]
    : [{ invariant, message: `the run is ${run.status} with a claim`, mend: releasing(claim) }];
}

function claimIsNewest({ run, claim }: Facts): readonly Contradiction[] {
  if (claim === undefined || claim.generation === run.generation) return [];
  const message = `the open claim is of generation ${claim.generation}, the run of ${run.generation}`;
  return [{ invariant: "claim_is_newest", message }];
}

function claimHasWorker({ claim, worker }: Facts): readonly Contradiction[] {
  if (claim === undefined || worker?.generation === claim.generation) return [];
  const message = `the claim's worker ${claim.workerId} is not recorded for its generation`;
  return [{ invariant: "claim_has_worker", message }];
}

/** A running run executes its open attempt or routes on its newest; a starting one neither. */
function activeHasPosition(facts: Facts): readonly Contradiction[] {
  const { run, open } = facts;
  if (run.status !== "running" || validates(facts)) return [];
  const executes = open?.status === "running";
  if (executes !== run.routing && (executes || open === undefined)) return [];
  const has = open === undefined ? "no open attempt" : `a ${open.status} attempt`;
  const message = `the run is running and ${run.routing ? "only routes" : "executes"}, with ${has}`;
  return [{ invariant: "active_has_position", message }];
}

/** A worker can also be there for an attempt that waits: to validate what was submitted. */
function validates({ run, open, submissions }: Facts): boolean {
  if (open?.status !== "waiting" || run.routing) return false;
  return submissions.some((one) => one.status === "validating");
}

function idleExecutesNothing(facts: Facts): readonly Contradiction[] {
  const { run, open, claim } = facts;
  if (open?.status !== "running" || run.status === "running" || isTerminal(facts)) return [];
  const message = `the run is ${run.status}, but attempt ${open.attemptId} is running`;
  const invariant = "idle_executes_nothing";
  // While somebody may own the run, or something waits for the attempt, more than one story fits.
  const isProven = claim === undefined && facts.interaction === undefined;
  return [{ invariant, message, ...(isProven ? { mend: interrupting(open) } : {}) }];
}
