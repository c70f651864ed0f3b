import { tokensOf } from "./tokens.ts";
import type { SourceFile } from "./source-tree.ts";
import type { Token } from "./tokens.ts";

/** About eight lines. Shorter likeness is usually the shape of the language, not a copy. */
export const TOKENS_ALIKE_MAX = 70;

interface Place {
  readonly path: string;
  readonly tokens: readonly Token[];
  readonly start: number;
}

/** All places so far whose windows have one hash. */
type Seen = Map<number, readonly Place[]>;

const HASH_BASE = 1_000_003;

/**
 * Pairs of places whose next `length` tokens are the same, one line a pair.
 * Imports are left out: files of one kind import alike.
 */
export function duplicates(files: readonly SourceFile[], length: number): readonly string[] {
  const seen: Seen = new Map();
  const ids = new Map<string, number>();
  return files.flatMap((file) => {
    const tokens = withoutImports(tokensOf(file.text));
    const hashes = windowHashes(
      tokens.map((token) => idOf(ids, token.text)),
      length,
    );
    return duplicatesIn({ path: file.path, tokens, start: 0 }, { hashes, seen, length });
  });
}

function duplicatesIn(
  file: Place,
  { hashes, seen, length }: { hashes: readonly number[]; seen: Seen; length: number },
): readonly string[] {
  const found: string[] = [];
  let start = 0;
  while (start < hashes.length) {
    const place = { ...file, start };
    const hash = hashes[start] ?? 0;
    const alike = (seen.get(hash) ?? []).find((earlier) => isAlike(earlier, place, length));
    if (alike === undefined) seen.set(hash, [...(seen.get(hash) ?? []), place]);
    const copied = alike !== undefined && !overlaps(alike, place, length);
    if (copied) found.push(`${where(alike)} and ${where(place)}`);
    // The windows that follow a find belong to the same copy.
    start += copied ? length : 1;
  }
  return found;
}

/** One hash for each window, each made from the one before it. */
function windowHashes(ids: readonly number[], length: number): readonly number[] {
  let leaving = 1;
  for (let count = 0; count < length; count += 1) leaving = Math.imul(leaving, HASH_BASE);
  const hashes: number[] = [];
  let hash = 0;
  for (const [index, id] of ids.entries()) {
    const gone = Math.imul(leaving, ids[index - length] ?? 0);
    hash = (Math.imul(hash, HASH_BASE) + id - gone) | 0;
    if (index >= length - 1) hashes.push(hash);
  }
  return hashes;
}

function idOf(ids: Map<string, number>, text: string): number {
  const id = ids.get(text) ?? ids.size + 1;
  ids.set(text, id);
  return id;
}

/** A hash may lie; the tokens do not. */
function isAlike(left: Place, right: Place, length: number): boolean {
  for (let index = 0; index < length; index += 1) {
    const token = left.tokens[left.start + index];
    if (token?.text !== right.tokens[right.start + index]?.text) return false;
  }
  return true;
}

/** A table of like rows repeats itself from one row to the next; that is no copy. */
function overlaps(first: Place, second: Place, length: number): boolean {
  return first.path === second.path && second.start - first.start < length;
}

function where({ path, tokens, start }: Place): string {
  return `${path}:${tokens[start]?.line ?? 0}`;
}

function withoutImports(tokens: readonly Token[]): readonly Token[] {
  const kept: Token[] = [];
  let inImport = false;
  for (const [index, token] of tokens.entries()) {
    if (token.text === "import" && !["(", "."].includes(tokens[index + 1]?.text ?? "")) {
      inImport = true;
    }
    if (!inImport) kept.push(token);
    if (token.text === ";") inImport = false;
  }
  return kept;
}
