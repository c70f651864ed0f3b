/** The numbers a user may change, where each comes from, and what a wrong one is told. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export { packageVersion } from "./package-info.ts";

export interface Settings {
  /** Runs that execute at the same time. */
  readonly capacity: number;
  /** A host with nothing to do ends after this time. */
  readonly idleMs: number;
  /** Worker processes kept ready before anybody needs them; 0 keeps none. */
  readonly spares: number;
  /** A spare that nobody needed is replaced after this time. */
  readonly spareMs: number;
  /** Bound of one worker's memory, where the platform can enforce it. */
  readonly workerMemoryMb: number;
  /** How long a claim lasts, in lease time, when nothing renews it. */
  readonly claimMs: number;
  /** How often a quiet worker's claim is renewed. */
  readonly renewMs: number;
  /** Terminal runs older than this may be pruned. */
  readonly retentionDays: number;
  /** A worker that was silent for so long is shown as blocked. */
  readonly loopBlockedMs: number;
  /** A blocked worker is killed when its node's deadline has passed by so much. */
  readonly verdictGraceMs: number;
  /** Size at which the host's log begins a new file. */
  readonly logBytesMax: number;
  /** Log files kept beside the present one. */
  readonly logFilesKept: number;
  /** Writes that may share one COMMIT; 1 shows what sharing is worth. */
  readonly commitWrites: number;
  /** Pi processes for headless runs at the same time, beside the capacity. */
  readonly headlessPis: number;
  /** Pi's program: a path or a name; empty means that it is looked for. */
  readonly piCommand: string;
}

type TextKey = "piCommand";
type NumberKey = Exclude<keyof Settings, TextKey>;

interface Rule {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

const DAY_MS = 86_400_000;

/** Default and bounds of every number; milliseconds, counts, megabytes or bytes as named. */
export const SETTING_RULES: Readonly<Record<NumberKey, Rule>> = {
  capacity: { fallback: 4, min: 1, max: 64 },
  idleMs: { fallback: 600_000, min: 0, max: 365 * DAY_MS },
  spares: { fallback: 2, min: 0, max: 16 },
  spareMs: { fallback: 600_000, min: 1_000, max: DAY_MS },
  // Below 512 MB Node itself, its threads and a compiler have no room.
  workerMemoryMb: { fallback: 2_048, min: 512, max: 1_048_576 },
  // Three missed renewals.
  claimMs: { fallback: 30_000, min: 3_000, max: DAY_MS },
  renewMs: { fallback: 10_000, min: 100, max: DAY_MS },
  retentionDays: { fallback: 30, min: 0, max: 36_500 },
  loopBlockedMs: { fallback: 5_000, min: 500, max: DAY_MS },
  verdictGraceMs: { fallback: 2_000, min: 0, max: DAY_MS },
  logBytesMax: { fallback: 5 * 1_048_576, min: 16_384, max: 2 ** 30 },
  logFilesKept: { fallback: 3, min: 0, max: 100 },
  commitWrites: { fallback: 64, min: 1, max: 64 },
  headlessPis: { fallback: 2, min: 1, max: 16 },
};

const NUMBER_KEYS = Object.keys(SETTING_RULES) as readonly NumberKey[];
const TEXT_KEYS: readonly TextKey[] = ["piCommand"];
export const SETTING_KEYS: readonly (keyof Settings)[] = [...NUMBER_KEYS, ...TEXT_KEYS];
/** As long as a path may be. */
const TEXT_CHARS_MAX = 4_096;

/** A setting that cannot be used; nothing was started with half of them. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  /** The file or, for a variable, "the environment". */
  readonly source: string;
  /** The setting or variable; empty when the file as a whole is meant. */
  readonly key: string;

  constructor(source: string, key: string, problem: string) {
    super(key === "" ? `${source}: ${problem}` : `${source}: ${key}: ${problem}`);
    this.source = source;
    this.key = key;
  }
}

/**
 * Defaults, overridden by `settings.json` in the state folder, overridden by
 * the environment (`PI_WORKFLOWS_CAPACITY` for `capacity`, and so on).
 */
export function readSettings(
  stateFolder: string,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Settings {
  const file = join(stateFolder, "settings.json");
  const values: Settings = {
    ...defaults(),
    ...fromFile(file),
    ...fromEnvironment(env),
  };
  if (values.renewMs * 2 > values.claimMs) {
    const problem = `must be at most half of claimMs (${values.claimMs}), is ${values.renewMs}`;
    throw new SettingsError(file, "renewMs", problem);
  }
  return values;
}

/** The variable that overrides a setting: `workerMemoryMb` is `PI_WORKFLOWS_WORKER_MEMORY_MB`. */
export function settingVariable(key: keyof Settings): string {
  return `PI_WORKFLOWS_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

type Values = { -readonly [Key in keyof Settings]?: Settings[Key] };

function defaults(): Settings {
  const entries = NUMBER_KEYS.map((key) => [key, SETTING_RULES[key].fallback] as const);
  const numbers = Object.fromEntries(entries) as Record<NumberKey, number>;
  return { ...numbers, piCommand: "" };
}

function fromFile(file: string): Values {
  const values: Values = {};
  for (const [key, value] of Object.entries(readObject(file))) {
    if (!isKey(key)) {
      throw new SettingsError(file, key, `is no setting; settings are ${SETTING_KEYS.join(", ")}`);
    }
    set(values, { source: file, name: key, key }, value);
  }
  return values;
}

function readObject(file: string): object {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new SettingsError(file, "", `cannot be read: ${(error as Error).message}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SettingsError(file, "", `is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SettingsError(file, "", "must hold a JSON object");
  }
  return value;
}

function fromEnvironment(env: Readonly<NodeJS.ProcessEnv>): Values {
  const values: Values = {};
  for (const key of SETTING_KEYS) {
    const name = settingVariable(key);
    const text = env[name];
    if (text === undefined || text === "") continue;
    set(values, { source: "the environment", name, key }, isNumber(key) ? Number(text) : text);
  }
  return values;
}

interface Place<Key> {
  readonly source: string;
  readonly name: string;
  readonly key: Key;
}

function set(values: Values, place: Place<keyof Settings>, value: unknown): void {
  const { key } = place;
  if (isNumber(key)) values[key] = checkedNumber({ ...place, key }, value);
  else values[key] = checkedText(place, value);
}

function checkedNumber(place: Place<NumberKey>, value: unknown): number {
  const { min, max } = SETTING_RULES[place.key];
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  const problem = `must be a whole number from ${min} to ${max}`;
  throw new SettingsError(place.source, place.name, problem);
}

function checkedText(place: Place<keyof Settings>, value: unknown): string {
  if (typeof value === "string" && value.length <= TEXT_CHARS_MAX) return value;
  const problem = `must be a text of at most ${TEXT_CHARS_MAX} characters`;
  throw new SettingsError(place.source, place.name, problem);
}

function isNumber(key: keyof Settings): key is NumberKey {
  return Object.hasOwn(SETTING_RULES, key);
}

function isKey(key: string): key is keyof Settings {
  return SETTING_KEYS.some((known) => known === key);
}
