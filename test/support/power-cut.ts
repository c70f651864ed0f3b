/**
 * What a power cut leaves of a database: all that was synced, and of what was written after that any
 * part, in any order, or nothing. Built from copies of the files, since nobody can cut the power of a test.
 */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_AT = 8;
const SALT_AT = 16;
const SALT_BYTES = 8;
const SECTOR_BYTES = 512;

/** One page in a write-ahead log. */
export interface Frame {
  /** Offset behind its last byte. */
  readonly end: number;
  /** Whether it is the last of a COMMIT. */
  readonly commits: boolean;
}

/** The frames of the log's present generation. */
export function framesOf(wal: Buffer): readonly Frame[] {
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(PAGE_SIZE_AT);
  const salt = wal.subarray(SALT_AT, SALT_AT + SALT_BYTES);
  const frames: Frame[] = [];
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    if (!wal.subarray(at + 8, at + 8 + SALT_BYTES).equals(salt)) break;
    frames.push({ end: at + frameBytes, commits: wal.readUInt32BE(at + 4) !== 0 });
  }
  return frames;
}

/** What lies in a file behind the last byte that reached the disk. */
export const REMAINS: Readonly<Record<string, (written: Buffer, at: number) => Buffer>> = {
  nothing: (written, at) => written.subarray(0, at),
  zeros: (written, at) =>
    Buffer.concat([written.subarray(0, at), Buffer.alloc(written.length - at)]),
  noise: (written, at) =>
    Buffer.concat([written.subarray(0, at), randomBytes(written.length - at)]),
  "what was written later": (written, at) => {
    const torn = Buffer.from(written);
    for (let byte = at; byte < Math.min(at + SECTOR_BYTES, torn.length); byte += 1) {
      torn[byte] = ~(torn[byte] ?? 0);
    }
    return torn;
  },
};

/** How far the two are the same: zeros may lie where zeros were written. */
export function intactBytes(written: Buffer, found: Buffer): number {
  let bytes = 0;
  while (bytes < found.length && found[bytes] === written[bytes]) bytes += 1;
  return bytes;
}

/** A folder's database as it is found after the cut. */
export function leave(
  folder: string,
  { database, wal }: { readonly database: Buffer; readonly wal: Buffer },
): string {
  const path = join(folder, "host.db");
  rmSync(`${path}-shm`, { force: true });
  writeFileSync(path, database, { mode: 0o600 });
  writeFileSync(`${path}-wal`, wal, { mode: 0o600 });
  return path;
}
