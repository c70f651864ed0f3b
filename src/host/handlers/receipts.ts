/** Receipts of commands: found before anything else is looked up, and as they are sent. */
import { create } from "@bufbuild/protobuf";
import { Outcome, ReceiptSchema } from "../../gen/piworkflows/common/v1/command_pb.ts";
import type { Receipt } from "../../gen/piworkflows/common/v1/command_pb.ts";
import { HostError } from "../errors.ts";
import type { AskedCommand } from "../operations/canonical.ts";
import type { CommandResult } from "../store/doors.ts";
import type { Reader } from "../store/tx.ts";
import { timestampOf } from "./convert.ts";

const OUTCOMES: Readonly<Record<CommandResult["outcome"], Outcome>> = {
  committed: Outcome.COMMITTED,
  adopted: Outcome.ADOPTED,
};

export function receiptMessage(result: CommandResult): Receipt {
  return create(ReceiptSchema, {
    outcome: OUTCOMES[result.outcome],
    runId: result.runId ?? "",
    revision: BigInt(result.revision),
    committedAt: timestampOf(result.committedAt),
  });
}

/**
 * The stored answer to an earlier request with this key, also when what it was
 * about has changed, ended or been pruned since. Refuses other content.
 */
export function storedResult(
  reader: Reader,
  { command, method, fingerprint }: AskedCommand,
): CommandResult | undefined {
  const stored = reader.commands.get(command.key);
  if (stored === undefined) return undefined;
  const { runId, revision, committedAt, extra } = stored;
  if (stored.method === method && stored.fingerprint === fingerprint) {
    return {
      outcome: "adopted",
      revision,
      committedAt,
      ...(runId === undefined ? {} : { runId }),
      ...(extra === undefined ? {} : { extra: JSON.parse(extra) as unknown }),
    };
  }
  throw keyConflict(command.key, method);
}

/** A repeat is answered from its receipt before anything of it is looked up. */
export async function answerOnce(
  reader: Reader,
  asked: AskedCommand,
  perform: () => Promise<CommandResult>,
): Promise<CommandResult> {
  return storedResult(reader, asked) ?? (await perform());
}

export function keyConflict(key: string, method: string): HostError {
  const message = `the key ${key} was used before with other content than this ${method}; use a new one`;
  return new HostError("IDEMPOTENCY_CONFLICT", message);
}
