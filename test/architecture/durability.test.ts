import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "./source-tree.ts";

const PAGE = readFileSync(join(ROOT, "docs/durability.md"), "utf8");

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
};

const PROOF = /`(test\/[\w./-]+\.test\.ts)` "([^"]+)"/g;

describe("docs/durability.md", () => {
  const proofs = [...PAGE.matchAll(PROOF)].map(([, file = "", name = ""]) => ({ file, name }));

  test("names tests that exist, by file and name", () => {
    expect(proofs.length).toBeGreaterThan(80);
    const missing = proofs.filter(({ file, name }) => !holds(file, name));
    expect(missing).toEqual([]);
  });

  test("has a proof in every row, and no other mention of a test file", () => {
    const rows = PAGE.split("\n").filter((line) => /^\| (?!---|fault)/.test(line));
    expect(rows.filter((row) => row.match(PROOF) === null)).toEqual([]);
    const mentioned = [...PAGE.matchAll(/test\/(?!architecture)[\w./-]+\.test\.ts/g)];
    expect(mentioned).toHaveLength(proofs.length);
  });

  test("has every field case of its groups, and none that there is not", () => {
    const known = Object.entries(CASES).flatMap(([group, numbers]) =>
      numbers.map((number) => `${group}${String(number).padStart(2, "0")}`),
    );
    const named = new Set([...PAGE.matchAll(/\b[A-K]\d\d\b/g)].map(([id]) => id));
    expect([...named].toSorted()).toEqual(known.toSorted());
  });

  test("is not believed about a test that there is not", () => {
    expect(holds("test/fault/crash-points.test.ts", "a death that nobody dies")).toBe(false);
    expect(holds("test/fault/nowhere.test.ts", "a death at")).toBe(false);
  });
});

function holds(file: string, name: string): boolean {
  const path = join(ROOT, file);
  return existsSync(path) && readFileSync(path, "utf8").includes(name);
}
