import type { ClaimRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { flag, plain, Table } from "./table.ts";

const claims = new Table<ClaimRecord>("claims", {
  runId: plain("run_id"),
  generation: plain("generation"),
  epoch: plain("epoch"),
  workerId: plain("worker_id"),
  tokenHash: plain("token_hash"),
  acquired: plain("acquired"),
  heartbeat: plain("heartbeat"),
  expiry: plain("expiry"),
  released: flag("released"),
  lastNumber: plain("last_number"),
  lastAnswer: plain("last_answer"),
});

/** `claims`, reading. */
export function claimReader(connection: Connection): Reader["claims"] {
  return {
    open: connection.one(claims, "WHERE run_id = ? AND released = 0"),
    get: connection.one(claims, "WHERE run_id = ? AND generation = ?"),
    expired: connection.many(
      claims,
      "WHERE released = 0 AND epoch = ? AND expiry <= ? ORDER BY expiry, run_id",
    ),
    allOpen: connection.many(claims, "WHERE released = 0 ORDER BY run_id"),
  };
}

/** `claims`, writing. */
export function claimWriter(connection: Connection): Pick<Tx["put"], "claim" | "claimChange"> {
  const update = connection.update(claims, ["run_id", "generation"]);
  const insert = connection.insert(claims);
  return {
    claim: (claim) => insert(claim),
    claimChange: (runId, generation, change) => update(change, runId, generation),
  };
}
