/** Before all measurements the report is empty; after them it is a table. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join } from "node:path";
import { LINES, REPORTS } from "./report.ts";
import type { Line } from "./report.ts";

export function setup(): void {
  rmSync(LINES, { force: true });
}

export function teardown(): void {
  if (!existsSync(LINES)) return;
  const lines = readFileSync(LINES, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const machine = { node: process.version, cpus: cpus().length, system: release() };
  const report = { measuredAt: new Date().toISOString(), machine, measurements: lines };
  writeFileSync(join(REPORTS, "bench.json"), `${JSON.stringify(report, undefined, 2)}\n`);
  const head = ["measure", "value", "bound", "", "reference in the same run", "load"];
  console.log(`\n${table([head, ...lines.map(cells)])}\n`);
}

function cells({ measure, value, unit, bound, reached, reference, load }: Line): string[] {
  const sign = bound.is === "at least" ? "≥" : "≤";
  const shown = `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`;
  const limit = `${sign} ${bound.value} ${unit}`;
  return [measure, shown, limit, reached ? "reached" : "MISSED", reference, load.toFixed(1)];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .join("\n");
}
