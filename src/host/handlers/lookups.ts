/** From an id, or the beginning of one, to its row. */
import type { EffectRecord, RunRecord } from "../records.ts";
import type { InteractionRecord } from "../records-sessions.ts";
import { resolveEffectId, resolveInteractionId, resolveRunId } from "../store/lookup.ts";
import type { Reader } from "../store/tx.ts";
import { checkName } from "./checks.ts";

export function findRun(reader: Reader, text: string): RunRecord {
  return existing(reader.runs.get(findRunId(reader, text)));
}

export function findRunId(reader: Reader, text: string): string {
  return resolveRunId(reader, checkName("run_id", text));
}

/** For filters: empty means any run. */
export function findRunIdOrAny(reader: Reader, text: string): string | undefined {
  return text === "" ? undefined : findRunId(reader, text);
}

export function findInteraction(reader: Reader, text: string): InteractionRecord {
  const id = resolveInteractionId(reader, checkName("interaction_id", text));
  return existing(reader.interactions.get(id));
}

export function findEffect(reader: Reader, text: string): EffectRecord {
  const id = resolveEffectId(reader, checkName("effect_id", text));
  return existing(reader.effects.get(id));
}

/** An id was looked up in this very turn of the loop, so its row is there. */
function existing<T>(row: T | undefined): T {
  if (row === undefined) throw new Error("an id was found without its row");
  return row;
}
