import Database from "better-sqlite3";

/**
 * Writes into a database past every guard: no trigger, no CHECK, no foreign key.
 * `$run` in a statement stands for the run's id.
 */
export function vandalise(path: string, runId: string, statements: readonly string[]): void {
  const db = new Database(path);
  try {
    db.pragma("foreign_keys = OFF");
    db.pragma("ignore_check_constraints = ON");
    const triggers = db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").pluck();
    for (const name of triggers.all()) db.exec(`DROP TRIGGER ${String(name)}`);
    for (const statement of statements) db.exec(statement.replaceAll("$run", `'${runId}'`));
  } finally {
    db.close();
  }
}
