import { describe, expect, test } from "vitest";
import { layerViolations } from "./check-layers.ts";
import { LAYERS } from "./layers.ts";
import { importsOf, sourceFiles } from "./source-tree.ts";
import type { SourceFile } from "./source-tree.ts";

// What starts a process or is imported by somebody else's code.
const ENTRIES = [
  "src/cli/main.ts",
  "src/extension/index.ts",
  "src/host/main.ts",
  "src/worker/main.ts",
  "src/worker/watchdog.ts",
  "src/workflow/index.ts",
];

describe("the source tree", () => {
  test("imports only what the layer table allows", () => {
    const found = sourceFiles("src").flatMap((file) =>
      layerViolations(LAYERS, file.path, importsOf(file)),
    );
    expect(found).toEqual([]);
  });

  test("is seen by the scanner at all", () => {
    const files = sourceFiles("src");
    expect(files.map((file) => file.path)).toEqual(expect.arrayContaining(ENTRIES));
    expect(files.flatMap(importsOf).length).toBeGreaterThan(files.length);
  });

  test("has no file that nobody imports", () => {
    expect(unimported(sourceFiles("src"))).toEqual([]);
  });

  // Else a new folder would quietly get the rights of the files that put everything together.
  test("has a row for each folder of the host and of the worker", () => {
    const folders = sourceFiles("src")
      .map((file) => /^src\/(?:host|worker)\/[^/]+(?=\/)/.exec(file.path)?.[0])
      .filter((folder) => folder !== undefined);
    expect([...new Set(folders)].filter((folder) => !(folder in LAYERS))).toEqual([]);
    expect(folders).toContain("src/host/store");
  });

  test("has no row in the layer table without a file", () => {
    const paths = sourceFiles("src").map((file) => file.path);
    const empty = Object.keys(LAYERS).filter(
      (row) =>
        row !== "src/gen" && !paths.some((path) => path === row || path.startsWith(`${row}/`)),
    );
    expect(empty).toEqual([]);
  });
});

describe("the layer check", () => {
  const layers = { "src/a": ["src/b", "type:src/c", "node:*"], "src/a/inner": [], "src/b": [] };
  const check = (file: string, target: string, typeOnly = false): readonly string[] =>
    layerViolations(layers, file, [{ target, typeOnly }]);

  test("lets a folder import itself and what its row lists", () => {
    expect(check("src/a/x.ts", "src/a/y.ts")).toEqual([]);
    expect(check("src/a/x.ts", "src/b/y.ts")).toEqual([]);
    expect(check("src/a/x.ts", "node:fs")).toEqual([]);
  });

  test("refuses what the row does not list", () => {
    expect(check("src/b/x.ts", "src/a/y.ts")).toEqual(["src/b/x.ts imports src/a/y.ts"]);
    expect(check("src/a/x.ts", "src/bb/y.ts")).toEqual(["src/a/x.ts imports src/bb/y.ts"]);
  });

  test("lets a `type:` entry pass types alone", () => {
    expect(check("src/a/x.ts", "src/c/y.ts", true)).toEqual([]);
    expect(check("src/a/x.ts", "src/c/y.ts")).toEqual(["src/a/x.ts imports src/c/y.ts"]);
  });

  test("applies the most specific row", () => {
    expect(check("src/a/inner/x.ts", "src/b/y.ts")).toEqual([
      "src/a/inner/x.ts imports src/b/y.ts",
    ]);
  });

  test("refuses a file that no row covers", () => {
    expect(check("src/z.ts", "src/a/x.ts")).toEqual(["src/z.ts lies in no row of the layer table"]);
  });

  test("sees every form of import", () => {
    const text = [
      'import type { A } from "./a.ts";',
      'export * from "./b.ts";',
      'import { c } from "@scope/package/deep";',
      'const d = await import("node:fs");',
    ].join("\n");
    expect(importsOf({ path: "src/x/file.ts", text })).toEqual([
      { target: "src/x/a.ts", typeOnly: true },
      { target: "src/x/b.ts", typeOnly: false },
      { target: "@scope/package", typeOnly: false },
      { target: "node:fs", typeOnly: false },
    ]);
  });
});

function unimported(files: readonly SourceFile[]): readonly string[] {
  const imported = new Set(files.flatMap(importsOf).map((one) => one.target));
  return files
    .map((file) => file.path)
    .filter((path) => !ENTRIES.includes(path) && !imported.has(path));
}
