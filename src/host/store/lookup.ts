import { HostError } from "../errors.ts";
import type { RejectionReason } from "../errors.ts";
import { ID_PREFIX_CHARS_MIN } from "../limits.ts";
import type { Reader } from "./tx.ts";

/** Ids named in a refusal; more would not help anybody to choose. */
const NAMES_MAX = 10;

interface Ids {
  get(id: string): object | undefined;
  idsByPrefix(prefix: string, limit: number): string[];
  idsBySuffix(suffix: string, limit: number): string[];
}

interface Kind {
  readonly noun: string;
  readonly article: "a" | "an";
  readonly prefix: string;
  readonly reason: RejectionReason;
}

const RUN: Kind = { noun: "run", article: "a", prefix: "run_", reason: "RUN_NOT_FOUND" };
const INTERACTION: Kind = {
  noun: "interaction",
  article: "an",
  prefix: "int_",
  reason: "INTERACTION_NOT_FOUND",
};
const EFFECT: Kind = {
  noun: "effect",
  article: "an",
  prefix: "eff_",
  reason: "EFFECT_NOT_FOUND",
};

/** The run that an id, or a part of one, means. */
export function resolveRunId(reader: Reader, text: string): string {
  return resolve(RUN, reader.runs, text);
}

/** The interaction that an id, or a part of one, means. */
export function resolveInteractionId(reader: Reader, text: string): string {
  return resolve(INTERACTION, reader.interactions, text);
}

/** The effect that an id, or a part of one, means. */
export function resolveEffectId(reader: Reader, text: string): string {
  return resolve(EFFECT, reader.effects, text);
}

/**
 * Ids of one day begin alike and differ at their ends, so either is taken. The
 * letters before the underscore may be left out.
 */
function resolve({ noun, article, prefix, reason }: Kind, ids: Ids, text: string): string {
  const part = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  if (ids.get(prefix + part) !== undefined) return prefix + part;
  const end = part.replace(LEFT_OUT, "");
  if (end.length < ID_PREFIX_CHARS_MIN)
    throw new HostError(
      reason,
      `"${text}" is too short to find ${article} ${noun}: give at least ${ID_PREFIX_CHARS_MIN} characters of the beginning or the end of its id`,
    );
  const beginning = end === part ? ids.idsByPrefix(prefix + part, NAMES_MAX) : [];
  const found = [...new Set([...beginning, ...ids.idsBySuffix(end, NAMES_MAX)])];
  const [first] = found;
  if (first === undefined) throw new HostError(reason, `there is no ${noun} ${text}`);
  if (found.length === 1) return first;
  const message = `"${text}" fits several ${noun} ids; give more of it`;
  throw new HostError(reason, message, { names: found.toSorted().slice(0, NAMES_MAX) });
}

/** How the left part of a shortened id may be shown to be missing. */
const LEFT_OUT = /^(?:…|\.\.\.)/;
