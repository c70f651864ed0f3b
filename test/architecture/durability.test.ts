import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { cellsOf, PAGE, page, placedRows } from "../../scripts/durability-page.ts";
import { ASKED } from "../durability/asked.ts";
import { SCENARIOS, WITHOUT_MEANING } from "../durability/matrix.ts";
import type { Proof } from "../durability/row.ts";
import { titlesOf } from "./test-titles.ts";

/** The numbers of the field cases in each group; they have gaps. */
const CASES: Readonly<Record<string, readonly number[]>> = {
  A: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15],
  B: [1, 2, 6, 7, 8, 10, 11, 12],
  C: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18],
  D: [1, 2, 3, 4, 5, 8, 9, 10, 11, 13, 14, 15, 16, 17, 19, 20, 22],
  E: [2, 3, 4, 5, 6, 7, 8, 13],
  F: [1, 2, 3, 4, 5],
  G: [1, 2, 4, 5],
  H: [1, 2, 4, 6, 7, 8, 9, 10],
  I: [1, 2, 3, 5, 6, 9, 11],
  J: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  K: [1, 2, 4],
  L: [1, 2, 3, 4, 5, 6, 7],
};

const ROWS = placedRows();
/** Two seconds, on a machine that does nothing else. */
const PARSING_MS = 120_000;

describe("docs/durability.md", () => {
  test("is what `npm run docs:durability` writes", () => {
    expect(readFileSync(PAGE, "utf8")).toBe(page());
  });

  test("has no empty cell, and none that would break its table", () => {
    const bad = ROWS.flatMap(cellsOf).filter((cell) => !/^[^|\n]*\w[^|\n]*$/.test(cell));
    expect(bad).toEqual([]);
  });

  test("has one row for a fault at a moment", () => {
    const named = ROWS.map(({ row }) => `${row.fault}: ${row.moment}`);
    expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
  });

  test("answers every fault that is asked for, at each of its moments", () => {
    const answered = ROWS.flatMap(({ row }) => row.asked ?? []);
    const asked = Object.entries(ASKED).flatMap(([fault, moments]) =>
      moments.map((moment) => `${fault}: ${moment}`),
    );
    expect(asked.toSorted()).toEqual([...new Set<string>(answered)].toSorted());
  });

  test("has every field case of its groups and every scenario, and none that there is not", () => {
    const known = Object.entries(CASES).flatMap(([group, numbers]) =>
      numbers.map((number) => `${group}${String(number).padStart(2, "0")}`),
    );
    const rows = ROWS.flatMap(({ row }) => row.cases);
    const named = new Set([...rows, ...Object.keys(WITHOUT_MEANING)]);
    expect([...named].toSorted()).toEqual([...known, ...Object.keys(SCENARIOS)].toSorted());
    expect(rows.filter((id) => id in WITHOUT_MEANING)).toEqual([]);
  });
});

describe("a proof in docs/durability.md", () => {
  const proofs = ROWS.flatMap(({ row }) => row.proofs);
  let titles: Awaited<ReturnType<typeof titlesOf>>;

  beforeAll(async () => {
    titles = await titlesOf(proofs.map(fileOf));
  }, PARSING_MS);

  /** Whether a test has such a title, or is in a group that has. */
  function exists(proof: Proof): boolean {
    const own = titles.get(fileOf(proof)) ?? [];
    return own.some((parts) =>
      parts.some((_, from) => parts.slice(from).join(" > ").startsWith(proof[1])),
    );
  }

  test("is a test that exists, by its file and the beginning of its title", () => {
    expect(proofs.length).toBeGreaterThan(150);
    expect(proofs.filter((proof) => !exists(proof))).toEqual([]);
  });

  test.each<Proof>([
    ["fault/crash-points", "a death that nobody dies"],
    ["fault/crash-points", "recovery.step"],
    ["fault/crash-points", "The table of deaths"],
    ["fault/nowhere", "a death at"],
  ])("is not believed: %s, %s", (...proof) => {
    expect(exists(proof)).toBe(false);
  });
});

function fileOf([file]: Proof): string {
  return `test/${file}.test.ts`;
}
