import type { CommandRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { plain, Table } from "./table.ts";

const commands = new Table<CommandRecord>("commands", {
  key: plain("key"),
  method: plain("method"),
  fingerprint: plain("fingerprint"),
  runId: plain("run_id"),
  revision: plain("revision"),
  committedAt: plain("committed_at"),
  extra: plain("extra_json"),
});

/** `commands`, reading. */
export function commandReader(connection: Connection): Reader["commands"] {
  return { get: connection.one(commands, "WHERE key = ?") };
}

/** `commands`, writing. A receipt never changes. */
export function commandWriter(connection: Connection): Pick<Tx["put"], "command"> {
  const insert = connection.insert(commands);
  return { command: (command) => insert(command) };
}
