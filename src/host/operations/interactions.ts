import { HostError } from "../errors.ts";
import { EVENT_PAGE_MAX, VALUE_BYTES_MAX } from "../limits.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { EventRecord, RunRecord } from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import { command } from "../store/doors.ts";
import type { CommandResult } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Reader } from "../store/tx.ts";
import { about, digestOfJson } from "./canonical.ts";
import type { AskedCommand } from "./canonical.ts";
import { settleAnswered } from "./settle.ts";
import { requireBytes, storeValue } from "./step.ts";

export interface AnswerRequest {
  readonly interactionId: string;
  /** The answer as JSON text; that it fits the schema is checked before. */
  readonly answerJson: string;
}

/**
 * Answers a checkpoint and queues its run. The first answer wins: the same value
 * again, under whatever key, gets the receipt of the first; another is refused
 * as INTERACTION_CLOSED. A deadline that has passed is an end, also before the
 * host has come to settle it.
 */
export async function answerCheckpoint(
  host: HostContext,
  asked: AskedCommand,
  { interactionId, answerJson }: AnswerRequest,
): Promise<CommandResult> {
  requireBytes(answerJson, VALUE_BYTES_MAX, "the answer");
  const digest = digestOfJson(answerJson, "the answer");
  const runId = host.store.reader.interactions.get(interactionId)?.runId;
  try {
    return await command(host, about(asked, runId), (tx, run) => {
      const interaction = tx.interactions.get(interactionId);
      if (interaction === undefined || run === undefined) throw unknown(interactionId);
      const at = host.clock.now();
      if (interaction.answerDigest === digest) throw new SameAnswer(receiptOf(tx, interaction));
      requireAnswerable(interaction, run, at);
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
class SameAnswer extends Error {
  readonly receipt: CommandResult;

  constructor(receipt: CommandResult) {
    super("the interaction has this very answer");
    this.receipt = receipt;
  }
}

function receiptOf(
  reader: Reader,
  { runId, interactionId, closedAt = 0 }: InteractionRecord,
): CommandResult {
  const settled = findEvent(
    reader,
    runId,
    ({ kind, data }) => kind === "settle" && data["interactionId"] === interactionId,
  );
  return { outcome: "adopted", runId, revision: settled?.revision ?? 0, committedAt: closedAt };
}

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

/** Kinds that anybody may answer with a value. */
const ANSWERABLE: Readonly<Record<InteractionRecord["kind"], boolean>> = {
  checkpoint: true,
  agent: false,
  reply: false,
  human_decision: false,
};

function requireAnswerable(interaction: InteractionRecord, run: RunRecord, at: number): void {
  const { interactionId, kind, status, deadlineAt = Infinity, runId } = interaction;
  if (!ANSWERABLE[kind]) {
    const message = `interaction ${interactionId} is of kind ${kind}, which is not answered so`;
    throw new HostError("WRONG_KIND", message, { runId });
  }
  if (status !== "pending") throw closed(interaction, status);
  if (!runLifecycle.allows(run.status, "settle")) {
    const message = `run ${runId} is ${run.status}: resume it before you answer ${interactionId}`;
    throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: run.status });
  }
  if (deadlineAt <= at) throw closed(interaction, "expired");
}

function closed({ interactionId, runId }: InteractionRecord, state: string): HostError {
  const message = `interaction ${interactionId} is ${state} and takes no other answer`;
  return new HostError("INTERACTION_CLOSED", message, { runId, state });
}

function unknown(interactionId: string): HostError {
  return new HostError("INTERACTION_NOT_FOUND", `there is no interaction ${interactionId}`);
}
