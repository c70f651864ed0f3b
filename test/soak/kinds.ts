/** What the runs of a soak are, and how each must end. */
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { mixAll } from "./workflows/parts/mix.ts";

/** A number from 0 up to 1. */
export type Chance = () => number;

export interface Ending {
  readonly status: RunStatus;
  /** Of a completed run. */
  readonly result?: JsonValue;
  /** Name and message of the error of another. */
  readonly error?: { readonly name: string; readonly message?: string };
}

export interface Plan {
  readonly kind: string;
  /** Name of the workflow's file without its ending. */
  readonly workflow: string;
  readonly input: Readonly<Record<string, JsonValue>>;
  /** How it ends unless somebody cancels it; `answer` is what the soak will say when asked. */
  readonly ending: Ending;
  readonly answer?: JsonValue;
  /** Where its effect happens, once, when it has one. */
  readonly effectFile?: string;
}

interface Making {
  readonly chance: Chance;
  /** Tells this run from all others. */
  readonly key: string;
  /** Folder of what happens outside. */
  readonly outside: string;
  /** Part of the time that timers usually take. */
  readonly stretch: number;
}

type Made = Omit<Plan, "kind" | "input"> & { readonly input: Readonly<Record<string, JsonValue>> };

const FAILURES = ["recovers", "returns", "fails", "is-late", "exits"] as const;
type Failure = (typeof FAILURES)[number];

const KINDS: Readonly<Record<string, (making: Making) => Made>> = {
  chains: ({ chance }) => {
    const seed = upTo(chance, 1_000);
    const steps = 1 + upTo(chance, 40);
    const result = `mixed ${mixAll(seed, steps)}`;
    return { workflow: "chains", input: { seed, steps }, ending: completed(result) };
  },
  prints: ({ chance, key }) => {
    const lines = 1 + upTo(chance, 1_500);
    const last = `${key} line ${lines} of ${lines}`;
    return {
      workflow: "prints",
      input: { lines },
      ending: completed({ lines, last, own: true }),
    };
  },
  asks: ({ chance, stretch }) => {
    const base = upTo(chance, 1_000);
    const add = upTo(chance, 1_000);
    const restMs = 50 + upTo(chance, 90_000 * stretch);
    const ending = completed({ sum: base + add });
    return { workflow: "asks", input: { base, restMs }, ending, answer: { add } };
  },
  looks: (making) => acts(making, "looks"),
  manual: (making) => acts(making, "manual"),
  command: (making) => acts(making, "command"),
  fails: ({ chance, key }) => {
    const how = FAILURES[upTo(chance, FAILURES.length)] ?? "fails";
    return { workflow: "fails", input: { how }, ending: failure(how, key) };
  },
  lingers: ({ chance, key }) => {
    const ms = 200 + upTo(chance, 8_000);
    const chars = 100 + upTo(chance, 40_000);
    const head = key.repeat(chars).slice(0, 20);
    const ending = completed({ chars, linger: "lingered", head });
    return { workflow: "lingers", input: { ms, chars }, ending };
  },
};

export const KIND_NAMES: readonly string[] = Object.keys(KINDS);

/** A run of a kind that chance picks. */
export function planRun(making: Making): Plan {
  const kind = KIND_NAMES[upTo(making.chance, KIND_NAMES.length)] ?? "";
  const made = KINDS[kind]?.(making);
  if (made === undefined) throw new Error("there is no kind of runs");
  return { ...made, kind, input: { key: making.key, ...made.input } };
}

export function upTo(chance: Chance, count: number): number {
  return Math.floor(chance() * count);
}

function acts({ chance, key, outside }: Making, node: string): Made {
  const file = join(outside, key);
  const lingerMs = upTo(chance, 600);
  return {
    workflow: "acts",
    input: { node, file, lingerMs },
    ending: completed("done"),
    effectFile: file,
  };
}

function failure(how: Failure, key: string): Ending {
  const endings: Readonly<Record<Failure, Ending>> = {
    recovers: completed("recovered"),
    returns: completed("returned"),
    fails: {
      status: RunStatus.FAILED,
      error: { name: "RangeError", message: `${key} fails for good` },
    },
    "is-late": { status: RunStatus.TIMED_OUT, error: { name: "TimeoutError" } },
    exits: completed("ProcessExit"),
  };
  return endings[how];
}

function completed(result: JsonValue): Ending {
  return { status: RunStatus.COMPLETED, result };
}
