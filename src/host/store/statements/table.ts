import type { Change } from "../tx.ts";

/** What SQLite stores. */
export type Cell = string | number | Uint8Array | null;

/**
 * How a field lies in a row: as it is, as 0 or 1, as JSON text, or as one of two
 * columns, `<name>_json` for a small value and `<name>_blob` for the digest of a
 * large one.
 */
export interface Column {
  readonly name: string;
  readonly kind: "plain" | "flag" | "json" | "value";
}

export const plain = (name: string): Column => ({ name, kind: "plain" });
export const flag = (name: string): Column => ({ name, kind: "flag" });
export const json = (name: string): Column => ({ name, kind: "json" });
export const value = (name: string): Column => ({ name, kind: "value" });

interface Field extends Column {
  readonly field: string;
  /** Place of its first column in a row. */
  readonly at: number;
}

export interface Assignment {
  readonly columns: readonly string[];
  readonly cells: readonly Cell[];
}

/** The columns of a record. A field of the record without one does not compile. */
export type Columns<T> = { readonly [K in keyof Required<T>]: Column };

/** The two-way map between the rows of one table and its records. */
export class Table<T extends object> {
  readonly name: string;
  /** Every column, in the order in which `decode` expects them. */
  readonly columns: readonly string[];
  readonly #fields: readonly Field[];

  constructor(name: string, columns: Columns<T>) {
    this.name = name;
    const fields: Field[] = [];
    const names: string[] = [];
    for (const [field, column] of Object.entries<Column>(columns)) {
      fields.push({ ...column, field, at: names.length });
      names.push(...columnNames(column));
    }
    this.#fields = fields;
    this.columns = names;
  }

  /** Absent fields are those whose columns are NULL. */
  decode(row: readonly unknown[]): T {
    const record: Record<string, unknown> = {};
    for (const field of this.#fields) {
      const decoded = decodeField(field, row);
      if (decoded !== undefined) record[field.field] = decoded;
    }
    // The rows were written by `encode`, and the schema's CHECKs hold them to the types.
    return record as T;
  }

  /** The columns that a record, or a change of one, names. */
  encode(change: Change<T>): Assignment {
    const given = change as Readonly<Record<string, unknown>>;
    const columns: string[] = [];
    const cells: Cell[] = [];
    for (const field of this.#fields) {
      if (!Object.hasOwn(given, field.field)) continue;
      columns.push(...columnNames(field));
      cells.push(...encodeField(field, given[field.field]));
    }
    return { columns, cells };
  }
}

function columnNames({ name, kind }: Column): readonly string[] {
  return kind === "value" ? [`${name}_json`, `${name}_blob`] : [name];
}

function decodeField({ kind, at }: Field, row: readonly unknown[]): unknown {
  const cell = row[at];
  switch (kind) {
    case "plain":
      return cell ?? undefined;
    case "flag":
      return cell === 1;
    case "json":
      return typeof cell === "string" ? (JSON.parse(cell) as unknown) : undefined;
    case "value": {
      if (typeof cell === "string") return { json: cell };
      const digest = row[at + 1];
      return typeof digest === "string" ? { blob: digest } : undefined;
    }
  }
}

function encodeField({ kind, field }: Field, given: unknown): readonly Cell[] {
  switch (kind) {
    case "plain":
      return [plainCell(field, given)];
    case "flag":
      return [given === true ? 1 : 0];
    case "json":
      return [given === undefined ? null : JSON.stringify(given)];
    case "value":
      return valueCells(given);
  }
}

function plainCell(field: string, given: unknown): Cell {
  if (given === undefined) return null;
  if (typeof given === "string" || typeof given === "number") return given;
  throw new TypeError(`${field} cannot be stored as a plain column`);
}

function valueCells(given: unknown): readonly Cell[] {
  if (typeof given !== "object" || given === null) return [null, null];
  const { json: text, blob } = given as { readonly json?: string; readonly blob?: string };
  return [text ?? null, blob ?? null];
}
