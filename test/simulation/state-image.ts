/** What a crash leaves on the disk: the database, and its log up to where it was written. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

export const DATABASE = "host.db";

/** The files as they are now. */
export function copyState(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of [DATABASE, `${DATABASE}-wal`]) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}

/** The log before a COMMIT, so that the COMMIT can be torn afterwards. */
export interface BeforeCommit {
  readonly log: Buffer;
  readonly database: string;
}

export function beforeCommit(folder: string): BeforeCommit {
  return { log: readLog(folder), database: identity(folder) };
}

/**
 * As if the power had gone while the COMMIT was written: of what it appended to
 * the log only a part is there, cut at any byte, and what follows is what was
 * there before, zeros or nothing. `share` says how much of it was written.
 *
 * Whole when the COMMIT also wrote the log back into the database: that happens
 * only after the log was synced.
 */
export function copyTorn(
  from: string,
  to: string,
  torn: { readonly before: BeforeCommit; readonly share: number; readonly zeros: boolean },
): void {
  copyState(from, to);
  const { before, share, zeros } = torn;
  if (identity(from) !== before.database) return;
  const after = readLog(from);
  const first = firstDifference(before.log, after);
  const cut = first + Math.floor((after.length - first) * share);
  const tail = zeros ? Buffer.alloc(after.length - cut) : before.log.subarray(cut);
  writeFileSync(join(to, `${DATABASE}-wal`), Buffer.concat([after.subarray(0, cut), tail]));
}

function firstDifference(before: Buffer, after: Buffer): number {
  const shared = Math.min(before.length, after.length);
  if (before.subarray(0, shared).equals(after.subarray(0, shared))) return shared;
  let at = 0;
  while (before[at] === after[at]) at += 1;
  return at;
}

function readLog(folder: string): Buffer {
  const path = join(folder, `${DATABASE}-wal`);
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

function identity(folder: string): string {
  const { size, mtimeNs } = statSync(join(folder, DATABASE), { bigint: true });
  return `${size} ${mtimeNs}`;
}
