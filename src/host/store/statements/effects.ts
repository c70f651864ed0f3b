import type { EffectStatus } from "../../lifecycle/effect.ts";
import type { EffectAttemptRecord, EffectRecord } from "../../records.ts";
import type { EffectFilter, Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { flag, plain, Table, value } from "./table.ts";
import type { Cell } from "./table.ts";

const effects = new Table<EffectRecord>("effects", {
  effectId: plain("effect_id"),
  runId: plain("run_id"),
  node: plain("node"),
  visit: plain("visit"),
  type: plain("type"),
  policy: plain("policy"),
  key: plain("key"),
  fingerprint: plain("fingerprint"),
  status: plain("status"),
  observable: flag("observable"),
  unknownBefore: flag("unknown_before"),
  receipt: value("receipt"),
  detail: plain("detail"),
  createdAt: plain("created_at"),
  updatedAt: plain("updated_at"),
});

const applications = new Table<EffectAttemptRecord>("effect_attempts", {
  effectId: plain("effect_id"),
  attemptId: plain("attempt_id"),
  application: plain("application"),
  pid: plain("pid"),
  startTime: plain("start_time"),
  bootId: plain("boot_id"),
  beganAt: plain("began_at"),
  endedAt: plain("ended_at"),
  outcome: plain("outcome"),
});

/** The condition of the index over them, in whose very words a query must ask to be helped by it. */
const UNSETTLED = "status IN ('pending', 'applying', 'ambiguous')";
const UNSETTLED_STATUSES: ReadonlySet<EffectStatus> = new Set(["pending", "applying", "ambiguous"]);

/** `effects` and `effect_attempts`, reading. */
export function effectReader(connection: Connection): Reader["effects"] {
  const countAmbiguous = connection.number(
    `SELECT count(*) FROM effects WHERE ${UNSETTLED} AND status = 'ambiguous'`,
  );
  const countOfRun = connection.number(
    `SELECT count(*) FROM effects WHERE run_id = ? AND ${UNSETTLED} AND status = 'ambiguous'`,
  );
  const countApplications = connection.number(
    "SELECT coalesce(max(application), 0) FROM effect_attempts WHERE effect_id = ?",
  );
  const anyApplying = connection.number(
    `SELECT EXISTS (SELECT 1 FROM effects WHERE ${UNSETTLED} AND status = 'applying')`,
  );
  return {
    get: connection.one(effects, "WHERE effect_id = ?"),
    byKey: connection.one(effects, "WHERE key = ?"),
    idsByPrefix: connection.idsByPrefix("effects", "effect_id"),
    idsBySuffix: connection.idsBySuffix("effects", "effect_id"),
    ofRun: connection.many(effects, "WHERE run_id = ? ORDER BY effect_id"),
    unsettled: connection.many(effects, `WHERE run_id = ? AND ${UNSETTLED} ORDER BY effect_id`),
    page: (filter) => page(connection, filter),
    countAmbiguous: () => countAmbiguous() ?? 0,
    ambiguousOfRun: (runId) => countOfRun(runId) ?? 0,
    lastAttempt: connection.one(
      applications,
      "WHERE effect_id = ? ORDER BY application DESC LIMIT 1",
    ),
    applications: (effectId) => countApplications(effectId) ?? 0,
    liveProcesses: connection.many(
      applications,
      `WHERE ended_at IS NULL AND pid IS NOT NULL
         AND effect_id IN (SELECT effect_id FROM effects WHERE run_id = ?)
       ORDER BY effect_id, application`,
    ),
    anyApplying: () => anyApplying() === 1,
    applyingOfRun: connection.many(
      effects,
      "WHERE run_id = ? AND status = 'applying' ORDER BY effect_id",
    ),
  };
}

function page(connection: Connection, filter: EffectFilter): EffectRecord[] {
  const conditions: string[] = [];
  const cells: Cell[] = [];
  const where = (condition: string, cell: Cell | undefined): void => {
    if (cell === undefined) return;
    conditions.push(condition);
    cells.push(cell);
  };
  const { statuses = [] } = filter;
  where("run_id = ?", filter.runId);
  if (statuses.length > 0) {
    where("status IN (SELECT value FROM json_each(?))", JSON.stringify(statuses));
    if (statuses.every((status) => UNSETTLED_STATUSES.has(status))) conditions.push(UNSETTLED);
  }
  where("effect_id < ?", filter.before);
  const clause = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return connection.select(effects, `${clause} ORDER BY effect_id DESC LIMIT ?`, [
    ...cells,
    filter.limit,
  ]);
}

/** `effects` and `effect_attempts`, writing. */
export function effectWriter(
  connection: Connection,
): Pick<Tx["put"], "effect" | "effectChange" | "effectAttempt" | "effectAttemptChange"> {
  const insert = connection.insert(effects);
  const update = connection.update(effects, ["effect_id"]);
  const insertApplication = connection.insert(applications);
  const updateApplication = connection.update(applications, ["effect_id", "application"]);
  return {
    effect: (effect) => insert(effect),
    effectChange: (effectId, change) => update(change, effectId),
    effectAttempt: (attempt) => insertApplication(attempt),
    effectAttemptChange: (effectId, application, change) =>
      updateApplication(change, effectId, application),
  };
}
