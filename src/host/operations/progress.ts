import { HostError } from "../errors.ts";
import { PROGRESS_TEXT_BYTES_MAX } from "../limits.ts";
import { system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";
import type { Reader } from "../store/tx.ts";
import { unknownInteraction } from "./answering.ts";
import { requireOrigin } from "./origin.ts";

export interface Update {
  readonly runId: string;
  readonly generation: number;
  readonly node: string;
  readonly text: string;
}

/**
 * Keeps the newest update of a node. It is no event, changes no revision and
 * renews no claim; one of a generation that does not own the run is dropped.
 */
export function writeProgress(host: HostContext, update: Update): Promise<void> {
  const { runId, generation, node } = update;
  return system(host, "progress", (tx) => {
    if (tx.claims.open(runId)?.generation !== generation) return;
    tx.put.progress({ runId, node, text: bounded(update.text), at: host.clock.now() });
  });
}

export interface StepUpdate {
  readonly interactionId: string;
  readonly text: string;
}

/** Keeps the newest update of a step that waits; one of a step that does not is dropped. */
export function writeStepUpdate(
  host: HostContext,
  { interactionId, text }: StepUpdate,
): Promise<void> {
  return system(host, "progress", (tx) => {
    const interaction = tx.interactions.get(interactionId);
    if (interaction === undefined || interaction.closedAt !== undefined) return;
    const { runId, node } = interaction;
    tx.put.progress({ runId, node, text: bounded(text), at: host.clock.now() });
  });
}

/** Refuses whoever tells news of a request that is not open, or not of their session. */
export function requireUpdatable(
  reader: Reader,
  interactionId: string,
  sessionId: string | undefined,
): void {
  const interaction = reader.interactions.get(interactionId);
  const run = interaction === undefined ? undefined : reader.runs.get(interaction.runId);
  if (interaction === undefined || run === undefined) throw unknownInteraction(interactionId);
  requireOrigin(run, sessionId);
  if (interaction.closedAt === undefined) return;
  const { runId, status } = interaction;
  const message = `interaction ${interactionId} is ${status}; nobody waits for news of it`;
  throw new HostError("INTERACTION_CLOSED", message, { runId, state: status });
}

/** At most the documented number of bytes, and never half a character. */
function bounded(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= PROGRESS_TEXT_BYTES_MAX) return text;
  return bytes
    .subarray(0, PROGRESS_TEXT_BYTES_MAX)
    .toString()
    .replace(/\uFFFD+$/, "");
}
