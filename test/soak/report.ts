/** What a soak prints and writes. */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import type { Judgement } from "./drift.ts";
import { DEEDS } from "./mischief.ts";
import { drawPlot } from "./plot.ts";
import type { Panel } from "./plot.ts";
import type { Sample } from "./sampler.ts";
import type { Soak } from "./soak.ts";

const MINUTE_MS = 60_000;
const COLUMNS = ["minute", "ended", "open", "host", "RSS MB", "fds", "db MB", "WAL MB", "output"];
const WIDTHS = COLUMNS.map((column) => Math.max(7, column.length));
const STYLES = [
  { name: "host killed", colour: "#d33", through: true },
  { name: "host stopped", colour: "#36c", through: true },
  { name: "worker killed", colour: "#d33", through: false },
  { name: "worker frozen", colour: "#09c", through: false },
  { name: "run cancelled", colour: "#999", through: false },
  { name: "run paused", colour: "#999", through: false },
  { name: "client dropped", colour: "#999", through: false },
];

export function headLine(): string {
  return row(COLUMNS);
}

export function lineOf(sample: Sample): string {
  return row([
    (sample.atMs / MINUTE_MS).toFixed(1),
    String(sample.finished),
    String(sample.unfinished),
    String(sample.epoch),
    sample.residentMb.toFixed(0),
    String(sample.descriptors),
    sample.databaseMb.toFixed(1),
    sample.walMb.toFixed(1),
    String(sample.outputFiles),
  ]);
}

export function judgementLine(judgement: Judgement): string {
  const { what, unit, start, end, minutes, perMinute, allowed, drifts } = judgement;
  const numbers = `${start.toFixed(1)} → ${end.toFixed(1)} ${unit} in ${minutes.toFixed(1)} min`;
  const slope = `${perMinute.toFixed(3)} ${unit}/min`;
  return `${drifts ? "DRIFTS" : "steady"}  ${what}: ${numbers}, ${slope}, may grow by ${allowed.toFixed(1)}`;
}

export function summaryLines({ ledger, mischief, upkeep }: Soak): readonly string[] {
  const ended = [...ledger.ended].toSorted(([left], [right]) => left.localeCompare(right));
  return [
    `runs ended as they must: ${ledger.closed.size} (${ended.map(([how, count]) => `${how} ${count}`).join(", ")})`,
    `commands acknowledged: ${ledger.given.length}, starts asked for again: ${ledger.startsRefused}`,
    DEEDS.map((name) => `${name} ${mischief.count(name)}`).join(", "),
    `backups ${upkeep.backups}, diagnoses ${upkeep.diagnoses}, runs pruned ${upkeep.pruned}`,
    `load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(" ")}`,
  ];
}

interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly text: string;
}

/** How often hosts wrote each warning or error, for whoever wants to know what was survived. */
export function logLines(soak: Soak): readonly string[] {
  const counts = new Map<string, number>();
  for (const { level, event } of troubles(soak)) {
    const what = `${level} ${event}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `log: ${what} (${count})`);
}

/** Calls that failed by no fault of the soak: a start whose loaders it has killed is its own. */
export function failedCalls(soak: Soak): readonly string[] {
  return troubles(soak)
    .filter(({ event, text }) => event === "call.failed" && !text.includes("ended by SIGKILL"))
    .map(({ text }) => text);
}

function troubles({ paths }: Soak): readonly LogLine[] {
  return logNames(paths)
    .flatMap((name) => readFileSync(join(paths.folder, name), "utf8").split("\n"))
    .map((text) => ({
      level: /"level":"(warn|error)"/.exec(text)?.[1] ?? "",
      event: /"event":"([^"]+)"/.exec(text)?.[1] ?? "",
      text,
    }))
    .filter(({ level }) => level !== "");
}

function logNames({ folder }: StatePaths): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith("host.log"));
}

/** Returns the path of the plot. */
export function writeReports(soak: Soak, judgements: readonly Judgement[], folder: string): string {
  const { ledger, mischief, sampler } = soak;
  mkdirSync(folder, { recursive: true });
  const { samples } = sampler;
  const numbers = {
    summary: summaryLines(soak),
    faults: ledger.faults,
    ended: Object.fromEntries(ledger.ended),
    deeds: Object.fromEntries(DEEDS.map((name) => [name, mischief.count(name)])),
    judgements,
    samples,
  };
  // What the hosts said is needed to understand a fault, and goes with their folder otherwise.
  for (const name of logNames(soak.paths))
    copyFileSync(join(soak.paths.folder, name), join(folder, `soak-${name}`));
  writeFileSync(join(folder, "soak.json"), `${JSON.stringify(numbers)}\n`);
  const path = join(folder, "soak.svg");
  const plot = drawPlot({
    title: `Soak: ${ledger.closed.size} runs ended, ${ledger.faults.length} faults`,
    times: samples.map(({ atMs }) => atMs),
    panels: panelsOf(samples),
    marks: mischief.deeds,
    markStyles: STYLES,
  });
  writeFileSync(path, plot);
  return path;
}

function panelsOf(samples: readonly Sample[]): readonly Panel[] {
  const present = (value: number, { epoch }: Sample): number | undefined =>
    epoch === 0 || value === 0 ? undefined : value;
  const of = (pick: (sample: Sample) => number | undefined) => samples.map(pick);
  return [
    {
      title: "Resident memory of the host",
      unit: "MB",
      series: [{ name: "RSS", colour: "#060", values: of((one) => present(one.residentMb, one)) }],
    },
    {
      title: "Files of the store",
      unit: "MB",
      series: [
        { name: "database", colour: "#c60", values: of((one) => one.databaseMb) },
        { name: "write-ahead log", colour: "#639", values: of((one) => one.walMb) },
      ],
    },
    {
      title: "Open descriptors of the host, and files of output",
      unit: "count",
      series: [
        { name: "descriptors", colour: "#06c", values: of((one) => present(one.descriptors, one)) },
        { name: "output files", colour: "#c39", values: of((one) => one.outputFiles) },
      ],
    },
    {
      title: "Runs",
      unit: "count",
      series: [
        { name: "unfinished", colour: "#555", values: of((one) => one.unfinished) },
        { name: "ended per minute", colour: "#093", values: endedPerMinute(samples) },
      ],
    },
  ];
}

/** Over the last minute at each moment; absent in the first. */
function endedPerMinute(samples: readonly Sample[]): readonly (number | undefined)[] {
  let from = 0;
  return samples.map(({ atMs, finished }) => {
    while ((samples[from + 1]?.atMs ?? atMs) <= atMs - MINUTE_MS) from += 1;
    const then = samples[from];
    return then === undefined || atMs < MINUTE_MS ? undefined : finished - then.finished;
  });
}

function row(cells: readonly string[]): string {
  return cells.map((cell, column) => cell.padStart(WIDTHS[column] ?? 0)).join("  ");
}
