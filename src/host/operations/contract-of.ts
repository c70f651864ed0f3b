import type { InteractionContract, InteractionRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";

/** What a request consists of beside its summary, request and schema. */
export function contractOf(reader: Reader, { contract }: InteractionRecord): InteractionContract {
  if (contract === undefined) return {};
  // Written by parkOnInteraction.
  return JSON.parse(reader.values.read(contract)) as InteractionContract;
}
