import { join } from "node:path";
import type Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/host/store/open-database.ts";
import { readSchema } from "../../src/host/store/schema.ts";
import { openSession } from "../../src/host/store/session.ts";
import type { Reader } from "../../src/host/store/tx.ts";
import { temporaryFolder } from "../support/test-store.ts";

// A statement that reads a whole table is fast in every test and slow after a
// year. Hence the planner is asked about each, on the real schema.

/** Reads of whole tables or indexes that are meant, because they stay small or stop early. */
const MEANT = [
  /^SCAN CONSTANT ROW$/,
  /^SCAN json_each /,
  /^SCAN claims USING INDEX claims_one_open$/,
  /^SCAN workers USING INDEX workers_live$/,
  /^SCAN interactions USING (?:COVERING )?INDEX interactions_one_open$/,
  /^SCAN timers USING (?:COVERING )?INDEX timers_due$/,
  /^SCAN effects USING (?:COVERING )?INDEX effects_unsettled$/,
  /^SCAN sessions USING INDEX sessions_attached$/,
  // In the order of the result, up to its limit.
  /^SCAN runs USING INDEX runs_queue$/,
  /^SCAN runs USING INDEX sqlite_autoindex_runs_2$/,
  /^SCAN effects USING INDEX sqlite_autoindex_effects_1$/,
  /^SCAN host_epochs$/,
  // The ends of ids, which a person gives and no program.
  /^SCAN (?:runs|interactions|effects) USING COVERING INDEX sqlite_autoindex_\w+_1$/,
  // One row a table, and one a status.
  /^SCAN sqlite_sequence$/,
  /^SCAN runs USING COVERING INDEX runs_by_status$/,
];

/** Asks for every combination of filters that has a text of its own. */
function askEveryPage(reader: Reader): void {
  const limit = 1;
  for (const statuses of [undefined, ["queued"] as const])
    for (const projectDir of [undefined, "/project"])
      reader.runs.page({
        limit,
        ...(statuses === undefined ? {} : { statuses }),
        ...(projectDir === undefined ? {} : { projectDir, before: 9, workflow: "notes" }),
      });
  for (const includeClosed of [true, false]) {
    reader.interactions.page({ limit, includeClosed });
    reader.interactions.page({ limit, includeClosed, runId: "run_a", after: "int_a" });
  }
  reader.effects.page({ limit });
  reader.effects.page({ limit, runId: "run_a", before: "eff_a" });
  reader.effects.page({ limit, statuses: ["ambiguous"] });
  reader.effects.page({ limit, statuses: ["applied"] });
}

/** The texts of all statements of the store. */
function statementsOf(db: Database.Database): readonly string[] {
  const texts: string[] = [];
  const observed = new Proxy(db, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (name !== "prepare") return member.bind(target) as unknown;
      return (sql: string) => {
        texts.push(sql);
        return target.prepare(sql);
      };
    },
  });
  askEveryPage(openSession(observed, () => 0).reader);
  return texts;
}

function planOf(db: Database.Database, sql: string): readonly string[] {
  const marks = Array.from(sql.matchAll(/\?/g), () => "1");
  const plan = db.prepare<string[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...marks);
  return plan.map(({ detail }) => detail);
}

describe("every statement of the store", () => {
  test("finds its rows by an index", () => {
    const path = join(temporaryFolder(), "host.db");
    const db = openDatabase({ path, schema: readSchema(), synchronous: "NORMAL" });
    onTestFinished(() => void db.close());
    const statements = statementsOf(db);
    expect(statements.length).toBeGreaterThan(80);
    const scans = statements.flatMap((sql) =>
      planOf(db, sql)
        .filter((step) => step.startsWith("SCAN") && !MEANT.some((meant) => meant.test(step)))
        .map((step) => `${step}: ${sql}`),
    );
    expect(scans).toEqual([]);
  });

  test("of the queue needs no sorting", () => {
    const path = join(temporaryFolder(), "host.db");
    const db = openDatabase({ path, schema: readSchema(), synchronous: "NORMAL" });
    onTestFinished(() => void db.close());
    const queue = statementsOf(db).filter((sql) => sql.includes("ORDER BY priority DESC"));
    expect(queue).toHaveLength(2);
    for (const sql of queue)
      expect(planOf(db, sql).filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
  });
});
