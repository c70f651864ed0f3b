/**
 * Writes `docs/durability.md` from the rows in `test/durability`. A test compares
 * the page with what this would write, and the rows with the tests that there are.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ASKED } from "../test/durability/asked.ts";
import { SCENARIOS, SECTIONS, WITHOUT_MEANING } from "../test/durability/matrix.ts";
import type { Proof, Row, Section } from "../test/durability/row.ts";

export const PAGE = join(import.meta.dirname, "../docs/durability.md");

const HEAD = `<!-- Written by \`npm run docs:durability\` from test/durability: change the rows there. -->

# Durability: what is promised for each fault

**In one sentence**: what was acknowledged is on the disk and stays true; what was not may be asked again under the same key; what
happened outside the program is never guessed.

One row per fault and moment: what holds afterwards, what does not, and the tests that prove it, by their file below \`test/\` and the
beginning of their title. The last column has the ids of the field cases (faults that other programs of this kind had) and scenarios that
the row answers; those without a meaning here are listed at the end. A test holds this page to the tests that exist: none is named that
there is not, no cell is empty, no id is missing.`;

const COLUMNS = ["row", "fault", "moment", "promised", "not promised", "proof", "cases"];

interface Placed {
  readonly place: string;
  readonly row: Row;
}

/** The whole page. */
export function page(): string {
  const parts = [HEAD, overview(), scenarios(), ...SECTIONS.map(section), withoutMeaning()];
  return `${parts.join("\n\n")}\n`;
}

/** Cells of the row, as they are shown. */
export function cellsOf({ place, row }: Placed): readonly string[] {
  const { fault, moment, promised, notPromised = "no limit is known", proofs, cases } = row;
  const named = cases.length === 0 ? "none of them" : cases.join(", ");
  return [place, fault, moment, promised, notPromised, proofs.map(proof).join("; "), named];
}

/** All rows with their places: number of the section, number in it. */
export function placedRows(): readonly Placed[] {
  return SECTIONS.flatMap(({ rows }, index) =>
    rows.map((row, number) => ({ place: `${index + 1}.${number + 1}`, row })),
  );
}

function overview(): string {
  const lines = Object.entries(ASKED).map(([fault, moments]) => [
    fault,
    moments.map((moment) => `${moment} (${placesOf(fault, moment)})`).join(", "),
  ]);
  const table = tableOf(["fault", "moments and their rows"], lines);
  return `## What every release has to withstand\n\n${table}`;
}

function placesOf(fault: string, moment: string): string {
  return places(({ asked = [] }) => asked.some((one) => one === `${fault}: ${moment}`));
}

function scenarios(): string {
  const lines = Object.entries(SCENARIOS).map(
    ([id, what]) => `- **${id}**, ${what}: ${places(({ cases }) => cases.includes(id))}`,
  );
  return `## Where most programs of this kind break first\n\n${lines.join("\n")}`;
}

function places(fits: (row: Row) => boolean): string {
  const own = placedRows().filter(({ row }) => fits(row));
  return own.map(({ place }) => place).join(", ");
}

function section({ title, rows }: Section): string {
  const lines = placedRows().filter(({ row }) => rows.includes(row));
  return `## ${title}\n\n${tableOf(COLUMNS, lines.map(cellsOf))}`;
}

function tableOf(columns: readonly string[], lines: readonly (readonly string[])[]): string {
  const drawn = [columns, columns.map(() => "---"), ...lines];
  return drawn.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function proof([file, title]: Proof): string {
  return `\`${file}\` "${title}"`;
}

function withoutMeaning(): string {
  const lines = Object.entries(WITHOUT_MEANING).map(([id, why]) => `- **${id}**: ${why}`);
  return `## Cases without a meaning here\n\n${lines.join("\n")}`;
}

if (import.meta.main) writeFileSync(PAGE, page());
