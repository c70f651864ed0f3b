/** `npm run soak`: whether anything is lost, left or growing when everything goes on for long. */
import { failedCalls, headLine, judgementLine, lineOf } from "./report.ts";
import { logLines, summaryLines, writeReports } from "./report.ts";
import { readOptions, USAGE } from "./options.ts";
import type { SoakOptions } from "./options.ts";
import { Soak } from "./soak.ts";
import { judgeAll } from "./verdicts.ts";

const USAGE_ERROR = 2;
const BROKEN = 1;
const LINE_MS = 60_000;

async function main(): Promise<number> {
  let options: SoakOptions;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${String(error)}\n${USAGE}`);
    return USAGE_ERROR;
  }
  if (process.platform !== "linux") {
    console.error("a soak reads /proc, which this system does not have");
    return USAGE_ERROR;
  }
  return await soakFor(options);
}

async function soakFor(options: SoakOptions): Promise<number> {
  const tell = (line: string): void => console.log(line);
  const soak = new Soak(options, tell);
  tell(`a soak of ${options.durationMs / 60_000} minutes in ${soak.folder}`);
  tell(headLine());
  const lines = setInterval(() => {
    const sample = soak.sampler.samples.at(-1);
    if (sample !== undefined) tell(lineOf(sample));
  }, LINE_MS);
  process.once("SIGINT", () => soak.stop());
  try {
    await soak.run();
    return conclude(soak, options, tell);
  } finally {
    clearInterval(lines);
    soak.close();
  }
}

function conclude(soak: Soak, options: SoakOptions, tell: (line: string) => void): number {
  for (const text of failedCalls(soak)) soak.ledger.fault(text);
  const judgements = judgeAll(soak.sampler.samples, soak.retentionMs);
  const plot = writeReports(soak, judgements, options.reports);
  const last = soak.sampler.samples.at(-1);
  if (last !== undefined) tell(lineOf(last));
  for (const line of [...summaryLines(soak), ...logLines(soak)]) tell(line);
  for (const judgement of judgements) tell(judgementLine(judgement));
  tell(`plot: ${plot}`);
  const { faults } = soak.ledger;
  for (const { atMs, what } of faults) tell(`fault at ${(atMs / 60_000).toFixed(2)} min: ${what}`);
  const isSound = faults.length === 0 && judgements.every(({ drifts }) => !drifts);
  tell(isSound ? "nothing was lost, left or growing" : "the soak has found something");
  return isSound ? 0 : BROKEN;
}

process.exitCode = await main();
