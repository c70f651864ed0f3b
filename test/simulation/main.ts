/**
 * `npm run simulate -- --seeds N --steps M [--first SEED] [--trace]`: lives of the
 * host core under faults. Ends with 1 when one of them found something. With
 * `--defect NAME` (defects.ts) the core is broken on purpose, and `--until-fault`
 * ends with the first seed that notices.
 */
import { parseArgs } from "node:util";
import { sha256Hex } from "../../src/platform/ids.ts";
import { newTestFolder, removeTestFolder } from "../support/memory-folder.ts";
import { plant } from "./defect-hooks.ts";
import type { LifeResult } from "./life.ts";

const TRACE_LINES = 40;

interface Options {
  readonly seeds: number;
  readonly steps: number;
  readonly first: number;
  readonly defect: string | undefined;
  readonly untilFault: boolean;
  readonly trace: boolean;
}

async function main(options: Options): Promise<number> {
  const { seeds, steps, first, defect, untilFault } = options;
  if (defect !== undefined) plant(defect);
  // Only now: what is imported before a defect is planted is sound.
  const { live } = await import("./life.ts");
  const folder = newTestFolder("memory");
  const counts = new Map<string, number>();
  const digests: string[] = [];
  let failed = 0;
  let lived = 0;
  try {
    for (const seed of Array.from({ length: seeds }, (_, index) => first + index)) {
      const result = await live(seed, steps, folder);
      lived += 1;
      digests.push(result.digest);
      for (const [name, count] of result.counts) counts.set(name, (counts.get(name) ?? 0) + count);
      if (result.fault === undefined) continue;
      failed += 1;
      tell(result, options.trace);
      if (untilFault) break;
    }
  } finally {
    removeTestFolder(folder);
  }
  const names = [...counts.keys()].toSorted();
  console.log(names.map((name) => `${name} ${counts.get(name)}`).join(", "));
  console.log(`digest of these lives: ${sha256Hex(digests.join())}`);
  console.log(`${lived} seeds of ${steps} steps: ${failed} with faults`);
  return failed === 0 ? 0 : 1;
}

function tell({ seed, steps, fault, trace }: LifeResult, all: boolean): void {
  console.log(`\nseed ${seed} broke after ${steps} steps:\n${fault}`);
  for (const line of all ? trace : trace.slice(-TRACE_LINES)) console.log(`    ${line}`);
  console.log(`again: npm run simulate -- --first ${seed} --seeds 1 --steps ${steps + 1} --trace`);
}

function optionsOf(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "20" },
      steps: { type: "string", default: "200" },
      first: { type: "string", default: "1" },
      defect: { type: "string" },
      "until-fault": { type: "boolean", default: false },
      trace: { type: "boolean", default: false },
    },
  });
  const [seeds, steps, first] = [values.seeds, values.steps, values.first].map(whole);
  const { defect, trace, "until-fault": untilFault } = values;
  return { seeds, steps, first, defect, untilFault, trace } as Options;
}

function whole(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`"${text}" is no number from 1`);
  return number;
}

process.exitCode = await main(optionsOf(process.argv.slice(2)));
