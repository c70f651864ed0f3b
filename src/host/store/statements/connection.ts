import type Database from "better-sqlite3";
import type { Change } from "../tx.ts";
import type { Cell, Table } from "./table.ts";

type Statement = Database.Statement<Cell[]>;

/**
 * Prepares the statements of the tables, each once, and runs them.
 *
 * Nothing here keeps a statement open: a row or a list is read whole, so that no
 * reader can stand in a writer's way or pin an old state of the database.
 */
export class Connection {
  readonly #db: Database.Database;
  readonly #onWrite: () => void;
  readonly #prepared = new Map<string, Statement>();

  constructor(db: Database.Database, onWrite: () => void) {
    this.#db = db;
    this.#onWrite = onWrite;
  }

  /** The one record that `tail` ("WHERE …") selects. */
  one<T extends object>(table: Table<T>, tail: string): (...cells: Cell[]) => T | undefined {
    const statement = this.#select(table, tail);
    return (...cells) => {
      const row = statement.get(...cells);
      return row === undefined ? undefined : table.decode(row as readonly unknown[]);
    };
  }

  /** The records that `tail` selects, in its order. */
  many<T extends object>(table: Table<T>, tail: string): (...cells: Cell[]) => T[] {
    const statement = this.#select(table, tail);
    return (...cells) =>
      statement.all(...cells).map((row) => table.decode(row as readonly unknown[]));
  }

  /** The number in the first column of a query's one row; absent for no row and for NULL. */
  number(sql: string): (...cells: Cell[]) => number | undefined {
    const statement = this.#prepare(sql).pluck();
    // The columns are INTEGER of STRICT tables, or counts.
    return (...cells) => (statement.get(...cells) as number | null | undefined) ?? undefined;
  }

  /** The text in the first column of a query's one row; absent for no row and for NULL. */
  text(sql: string): (...cells: Cell[]) => string | undefined {
    const statement = this.#prepare(sql).pluck();
    return (...cells) => (statement.get(...cells) as string | null | undefined) ?? undefined;
  }

  /** The bytes in the first column of a query's one row. */
  bytes(sql: string): (...cells: Cell[]) => Uint8Array | undefined {
    const statement = this.#prepare(sql).pluck();
    return (...cells) => statement.get(...cells) as Uint8Array | undefined;
  }

  /** The texts in the first column of a query's rows. */
  texts(sql: string): (...cells: Cell[]) => string[] {
    const statement = this.#prepare(sql).pluck();
    return (...cells) => statement.all(...cells) as string[];
  }

  /** The ids that begin with a prefix. Their characters are below "{", which ends the range. */
  idsByPrefix(table: string, column: string): (prefix: string, limit: number) => string[] {
    const find = this.texts(
      `SELECT ${column} FROM ${table} WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column} LIMIT ?`,
    );
    return (prefix, limit) => find(prefix, `${prefix}{`, limit);
  }

  /** The ids that end so. They are all read: a table holds as many as a person keeps runs. */
  idsBySuffix(table: string, column: string): (suffix: string, limit: number) => string[] {
    const find = this.texts(
      `SELECT ${column} FROM ${table} WHERE substr(${column}, ?) = ? ORDER BY ${column} LIMIT ?`,
    );
    return (suffix, limit) => find(-suffix.length, suffix, limit);
  }

  /** The rows of a query as objects. */
  rows<R>(sql: string): (...cells: Cell[]) => R[] {
    const statement = this.#prepare(sql);
    return (...cells) => statement.all(...cells) as R[];
  }

  /** A query whose text depends on which filters are given; each text is prepared once. */
  select<T extends object>(table: Table<T>, tail: string, cells: readonly Cell[]): T[] {
    const statement = this.#select(table, tail);
    return statement.all(...cells).map((row) => table.decode(row as readonly unknown[]));
  }

  /** A change; returns how many rows it touched. */
  change(sql: string): (...cells: Cell[]) => number {
    const statement = this.#prepare(sql);
    return (...cells) => this.#run(statement, cells);
  }

  /** Adds a row; `tail` may say what happens when it is there. */
  insert<T extends object>(table: Table<T>, tail = ""): (record: Change<T>, extra?: Extra) => void {
    return (record, extra = {}) => {
      const { columns, cells } = table.encode(record);
      const names = [...columns, ...Object.keys(extra)];
      const marks = names.map(() => "?").join(", ");
      const sql = `INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${marks}) ${tail}`;
      this.#run(this.#prepare(sql), [...cells, ...Object.values(extra)]);
    };
  }

  /** Sets the named fields of the one row with the key; that there is none is a fault of ours. */
  update<T extends object>(
    table: Table<T>,
    key: readonly string[],
  ): (change: Change<T>, ...keyCells: Cell[]) => void {
    const where = key.map((column) => `${column} = ?`).join(" AND ");
    return (change, ...keyCells) => {
      const { columns, cells } = table.encode(change);
      if (columns.length === 0) return;
      const set = columns.map((column) => `${column} = ?`).join(", ");
      const sql = `UPDATE ${table.name} SET ${set} WHERE ${where}`;
      const touched = this.#run(this.#prepare(sql), [...cells, ...keyCells]);
      if (touched !== 1) throw new Error(`no row of ${table.name} is ${keyCells.join(", ")}`);
    };
  }

  #select<T extends object>(table: Table<T>, tail: string): Statement {
    const columns = table.columns.map((column) => `${table.name}.${column}`).join(", ");
    return this.#prepare(`SELECT ${columns} FROM ${table.name} ${tail}`).raw();
  }

  #prepare(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare<Cell[]>(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #run(statement: Statement, cells: readonly Cell[]): number {
    // Outside a transaction SQLite would commit the statement by itself, past every door.
    if (!this.#db.inTransaction) throw new Error("a write outside the body of a door");
    const { changes } = statement.run(...cells);
    if (changes > 0) this.#onWrite();
    return changes;
  }
}

type Extra = Readonly<Record<string, Cell>>;
