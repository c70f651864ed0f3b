import { createHash } from "node:crypto";
import { INLINE_VALUE_BYTES_MAX } from "../../limits.ts";
import type { ValueRef } from "../../records.ts";
import type { Reader } from "../tx.ts";
import type { Connection } from "./connection.ts";

/** The longest UTF-8 form of one UTF-16 unit is three bytes; one more for a cut at the end. */
const BYTES_PER_CHAR = 4;

/** Every column that names a blob. A blob that none of them names is garbage. */
const REFERENCES: readonly (readonly [table: string, column: string])[] = [
  ["runs", "input_blob"],
  ["runs", "result_blob"],
  ["run_sources", "digest"],
  ["attempts", "output_blob"],
  ["interactions", "request_blob"],
  ["interactions", "schema_blob"],
  ["interactions", "contract_blob"],
  ["interactions", "answer_blob"],
  ["submissions", "value_blob"],
  ["messages", "text_blob"],
  ["effects", "receipt_blob"],
];

export interface BlobWriter {
  /** Stores a JSON text inline or as a blob. */
  value(json: string): ValueRef;
  /** Stores the bytes once and returns their digest. */
  blob(bytes: Uint8Array): string;
  /** The digests that rows of a run name. */
  ofRun(runId: string): readonly string[];
  /** Deletes those of the blobs that nothing names any more. */
  collect(digests: readonly string[]): number;
  /** The next digests after one, in their order. */
  after(digest: string, limit: number): readonly string[];
}

/** `blobs`: content by its digest, stored once however many rows name it. */
export function blobReader(connection: Connection): Reader["values"] {
  const read = connection.bytes("SELECT bytes FROM blobs WHERE digest = ?");
  const start = connection.rows<{ readonly head: Uint8Array; readonly size: number }>(
    "SELECT substr(bytes, 1, ?) AS head, length(bytes) AS size FROM blobs WHERE digest = ?",
  );
  const bytes = (digest: string): Uint8Array | undefined => {
    const found = read(digest);
    if (found !== undefined && digestOf(found) !== digest) throw damaged(digest);
    return found;
  };
  return {
    bytes,
    read(ref) {
      if ("json" in ref) return ref.json;
      const found = bytes(ref.blob);
      if (found === undefined) throw missing(ref.blob);
      return utf8(found);
    },
    head(ref, chars) {
      if ("json" in ref) return cut(ref.json, { chars, complete: true });
      const [row] = start(chars * BYTES_PER_CHAR, ref.blob);
      if (row === undefined) throw missing(ref.blob);
      return cut(utf8(row.head), { chars, complete: row.head.length === row.size });
    },
  };
}

export function blobWriter(connection: Connection, now: () => number): BlobWriter {
  const insert = connection.change(
    "INSERT INTO blobs (digest, bytes, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const named = REFERENCES.map(
    ([table, column]) => `EXISTS (SELECT 1 FROM ${table} WHERE ${column} = blobs.digest)`,
  );
  const collectOne = connection.change(
    `DELETE FROM blobs WHERE digest = ? AND NOT (${named.join(" OR ")})`,
  );
  const perColumn = REFERENCES.map(
    ([table, column]) =>
      `SELECT ${column} FROM ${table} WHERE run_id = ? AND ${column} IS NOT NULL`,
  );
  const ofRun = connection.texts(perColumn.join(" UNION "));
  const blob = (bytes: Uint8Array): string => {
    const digest = digestOf(bytes);
    insert(digest, bytes, now());
    return digest;
  };
  return {
    blob,
    value(json) {
      if (Buffer.byteLength(json) <= INLINE_VALUE_BYTES_MAX) return { json };
      return { blob: blob(Buffer.from(json)) };
    },
    ofRun: (runId) => ofRun(...REFERENCES.map(() => runId)),
    collect: (digests) => digests.reduce((count, digest) => count + collectOne(digest), 0),
    after: connection.texts("SELECT digest FROM blobs WHERE digest > ? ORDER BY digest LIMIT ?"),
  };
}

function cut(
  text: string,
  { chars, complete }: { readonly chars: number; readonly complete: boolean },
): { text: string; whole: boolean } {
  if (text.length <= chars) return { text, whole: complete };
  // Half of a surrogate pair is no character.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(chars - 1)) ? chars - 1 : chars;
  return { text: text.slice(0, end), whole: false };
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function missing(digest: string): Error {
  return new Error(`the stored value ${digest} is missing`);
}

function damaged(digest: string): Error {
  return new Error(`the stored value ${digest} is damaged: its bytes have another digest`);
}
