import { HostError } from "../errors.ts";
import type { RejectionReason } from "../errors.ts";
import { ID_PREFIX_CHARS_MIN } from "../limits.ts";
import type { Reader } from "./tx.ts";

/** Ids named in a refusal; more would not help anybody to choose. */
const NAMES_MAX = 10;

interface Kind {
  readonly noun: string;
  readonly prefix: string;
  readonly reason: RejectionReason;
  readonly idsByPrefix: (prefix: string, limit: number) => string[];
}

/** The run that an id, or the beginning of one, means. */
export function resolveRunId(reader: Reader, text: string): string {
  return resolve(
    {
      noun: "run",
      prefix: "run_",
      reason: "RUN_NOT_FOUND",
      idsByPrefix: (prefix, limit) => reader.runs.idsByPrefix(prefix, limit),
    },
    text,
  );
}

/** The interaction that an id, or the beginning of one, means. */
export function resolveInteractionId(reader: Reader, text: string): string {
  return resolve(
    {
      noun: "interaction",
      prefix: "int_",
      reason: "INTERACTION_NOT_FOUND",
      idsByPrefix: (prefix, limit) => reader.interactions.idsByPrefix(prefix, limit),
    },
    text,
  );
}

/** The effect that an id, or the beginning of one, means. */
export function resolveEffectId(reader: Reader, text: string): string {
  return resolve(
    {
      noun: "effect",
      prefix: "eff_",
      reason: "EFFECT_NOT_FOUND",
      idsByPrefix: (prefix, limit) => reader.effects.idsByPrefix(prefix, limit),
    },
    text,
  );
}

/** The letters before the underscore may be left out. */
function resolve({ noun, prefix, reason, idsByPrefix }: Kind, text: string): string {
  const wanted = text.startsWith(prefix) ? text : prefix + text;
  if (wanted.length - prefix.length < ID_PREFIX_CHARS_MIN)
    throw new HostError(
      reason,
      `"${text}" is too short to find a ${noun}: give at least ${ID_PREFIX_CHARS_MIN} characters of its id`,
    );
  const found = idsByPrefix(wanted, NAMES_MAX);
  const [first] = found;
  if (first === undefined) throw new HostError(reason, `there is no ${noun} ${text}`);
  if (found.length === 1 || first === wanted) return first;
  throw new HostError(
    reason,
    `"${text}" is the beginning of several ${noun} ids; give more of it`,
    {
      names: found,
    },
  );
}
