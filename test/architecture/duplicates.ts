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

/**
 * Pairs of places whose next `length` tokens are the same, one line a pair.
 * Imports are left out: files of one kind import alike.
 */
export function duplicates(files: readonly SourceFile[], length: number): readonly string[] {
  const seen = new Map<string, Place>();
  return files.flatMap((file) => duplicatesIn(file, seen, length));
}

function duplicatesIn(file: SourceFile, seen: Map<string, Place>, length: number): string[] {
  const tokens = withoutImports(tokensOf(file.text));
  const found: string[] = [];
  let start = 0;
  while (start + length <= tokens.length) {
    const place = { path: file.path, tokens, start };
    const first = firstLike(place, seen, length);
    if (first !== undefined) found.push(`${where(first)} and ${where(place)}`);
    // The windows that follow a find belong to the same copy.
    start += first === undefined ? 1 : length;
  }
  return found;
}

/** The earlier place that reads like this one; without one, this is the first of its kind. */
function firstLike(place: Place, seen: Map<string, Place>, length: number): Place | undefined {
  const key = window(place, length);
  const first = seen.get(key);
  if (first === undefined) seen.set(key, place);
  return first === undefined || overlaps(first, place, length) ? undefined : first;
}

function window({ tokens, start }: Place, length: number): string {
  return tokens
    .slice(start, start + length)
    .map((token) => token.text)
    .join(" ");
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
