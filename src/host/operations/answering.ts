/** What every way of answering a request has in common: who may, when, and which answer won. */
import { HostError } from "../errors.ts";
import { EVENT_PAGE_MAX } from "../limits.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { EventRecord, Instant, RunRecord } from "../records.ts";
import type { InteractionKind, InteractionRecord } from "../records-sessions.ts";
import { command } from "../store/doors.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Reader } from "../store/tx.ts";
import { about, digestOfJson } from "./canonical.ts";
import type { AskedCommand } from "./canonical.ts";
import { settleAnswered } from "./settle.ts";
import { storeValue } from "./step.ts";

export interface Answering {
  readonly interactionId: string;
  /** The answer as JSON text; refuses what this request does not take. */
  readonly answerOf: (reader: Reader, interaction: InteractionRecord, run: RunRecord) => string;
}

/**
 * Answers an open request that needs no validation and queues its run. The first
 * answer wins: the same value again, under whatever key, gets the receipt of the
 * first; another is refused as INTERACTION_CLOSED. A deadline that has passed is
 * an end, also before the host has come to settle it.
 */
export async function answerOpen(
  host: HostContext,
  asked: AskedCommand,
  { interactionId, answerOf }: Answering,
): Promise<CommandResult> {
  const runId = host.store.reader.interactions.get(interactionId)?.runId;
  try {
    return await command(host, about(asked, runId), (tx, run) => {
      const interaction = tx.interactions.get(interactionId);
      if (interaction === undefined || run === undefined) throw unknownInteraction(interactionId);
      const at = host.clock.now();
      const answerJson = answerOf(tx, interaction, run);
      const digest = digestOfJson(answerJson, "the answer");
      if (interaction.answerDigest === digest)
        throw new SameAnswer(settledReceipt(tx, interaction));
      requireOpen(interaction, run, at);
      const value = storeValue(tx, answerJson, "the answer");
      settleAnswered({ tx, run, at }, interaction, { value, digest, client: asked.command.client });
      return {};
    });
  } catch (error) {
    if (error instanceof SameAnswer) return error.receipt;
    throw error;
  }
}

/** Leaves the transaction, which has nothing to store, with the receipt of the first answer. */
export class SameAnswer extends Error {
  readonly receipt: CommandResult;

  constructor(receipt: CommandResult) {
    super("the interaction has this very answer");
    this.receipt = receipt;
  }
}

/** The receipt of the answer that closed the request. */
export function settledReceipt(
  reader: Reader,
  { runId, interactionId, closedAt = 0 }: InteractionRecord,
): CommandResult {
  const settled = findEvent(
    reader,
    runId,
    ({ kind, data }) => CLOSING.has(kind) && data["interactionId"] === interactionId,
  );
  return { outcome: "adopted", runId, revision: settled?.revision ?? 0, committedAt: closedAt };
}

/** Events that close a request with an answer. */
const CLOSING: ReadonlySet<string> = new Set(["settle", "advance", "finish"]);

function findEvent(
  reader: Reader,
  runId: string,
  isWanted: (event: EventRecord) => boolean,
): EventRecord | undefined {
  let after = 0;
  for (;;) {
    const page = reader.events.ofRun(runId, after, EVENT_PAGE_MAX);
    const found = page.find(isWanted);
    const last = page.at(-1);
    if (found !== undefined || last === undefined) return found;
    after = last.revision;
  }
}

/** Refuses an answer to a request that is closed, over, or of a run that does not wait. */
export function requireOpen(interaction: InteractionRecord, run: RunRecord, at: Instant): void {
  const { interactionId, status, deadlineAt = Infinity, runId } = interaction;
  if (status === "validating") {
    const message = `a result of ${interactionId} is being validated; wait for the verdict on it`;
    throw new HostError("SUBMISSION_IN_PROGRESS", message, { runId, state: status });
  }
  if (status !== "pending") throw closedInteraction(interaction, status);
  if (!runLifecycle.allows(run.status, "settle")) {
    const message = `run ${runId} is ${run.status}: resume it before you answer ${interactionId}`;
    throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: run.status });
  }
  if (deadlineAt <= at) throw closedInteraction(interaction, "expired");
}

const HOW: Readonly<Record<InteractionKind, string>> = {
  agent: "submit its result (tool `workflow`, action submit; or `pi-workflows submit`)",
  reply: "it takes the model's next answer in its session, and nothing else",
  checkpoint: "answer it (tool `workflow`, action answer; or `pi-workflows answer`)",
  human_decision:
    "a person decides it, with `/workflow decide` in the session or `pi-workflows decide` in a terminal",
};

/** The way of answering does not fit the request; of a person's decision the way says so by name. */
export function wrongKind(
  { interactionId, kind, runId }: InteractionRecord,
  how: string,
): HostError {
  const reason = kind === "human_decision" ? "HUMAN_ONLY" : "WRONG_KIND";
  const message = `interaction ${interactionId} is of kind ${kind} and cannot be ${how}: ${HOW[kind]}`;
  return new HostError(reason, message, { runId, state: kind });
}

export function closedInteraction(
  { interactionId, runId, answeredBy }: InteractionRecord,
  state: string,
): HostError {
  const by = answeredBy === undefined ? "" : ` (${answeredBy} answered it)`;
  const message = `interaction ${interactionId} is ${state}${by} and takes no other answer`;
  const names = answeredBy === undefined ? {} : { names: [answeredBy] };
  return new HostError("INTERACTION_CLOSED", message, { runId, state, ...names });
}

export function unknownInteraction(interactionId: string): HostError {
  return new HostError("INTERACTION_NOT_FOUND", `there is no interaction ${interactionId}`);
}
