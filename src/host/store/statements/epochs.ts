import type { HostEpochRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { plain, Table } from "./table.ts";

const epochs = new Table<HostEpochRecord>("host_epochs", {
  epoch: plain("epoch"),
  pid: plain("pid"),
  startTime: plain("start_time"),
  bootId: plain("boot_id"),
  version: plain("version"),
  startedAt: plain("started_at"),
  endedAt: plain("ended_at"),
});

/** `host_epochs`, reading. */
export function epochReader(connection: Connection): Reader["epochs"] {
  return {
    get: connection.one(epochs, "WHERE epoch = ?"),
    last: connection.one(epochs, "ORDER BY epoch DESC LIMIT 1"),
  };
}

/** `host_epochs`, writing. */
export function epochWriter(connection: Connection): Pick<Tx["put"], "epoch" | "epochEnded"> {
  const insert = connection.insert(epochs);
  const update = connection.update(epochs, ["epoch"]);
  return {
    epoch: (epoch) => insert(epoch),
    epochEnded: (epoch, at) => update({ endedAt: at }, epoch),
  };
}
