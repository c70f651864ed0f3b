/** What Pi loads when it starts: little, nothing twice, and without a wire. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { init, parse } from "es-module-lexer";
import { beforeAll, describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "dist/extension");
const ENTRY = join(FOLDER, "index.js");

interface Imports {
  readonly always: readonly string[];
  readonly later: readonly string[];
}

beforeAll(async () => {
  await init();
});

function importsOf(file: string): Imports {
  const [imports] = parse(readFileSync(file, "utf8"));
  const named = (type: string): readonly string[] =>
    imports.flatMap((one) => (one.type === type ? [one.specifier ?? ""] : []));
  return { always: named("static"), later: named("dynamic") };
}

/** The file and everything that it needs before it can run. */
function needs(file: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(file);
  for (const name of importsOf(file).always.filter((one) => one.startsWith("."))) {
    const target = join(dirname(file), name);
    if (!found.has(target)) needs(target, found);
  }
  return found;
}

/** The file that the entry loads last. */
function main(): string {
  const [name = ""] = importsOf(ENTRY).later;
  return join(FOLDER, name);
}

const bytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + statSync(file).size, 0);

describe("the extension as it is built", () => {
  test("is where the manifest says", () => {
    // Ours; npm has read it before any test runs.
    const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      readonly pi: { readonly extensions: readonly string[]; readonly skills: readonly string[] };
    };
    expect(manifest.pi.extensions.map((path) => join(ROOT, path))).toEqual([ENTRY]);
    expect(manifest.pi.skills.every((path) => existsSync(join(ROOT, path)))).toBe(true);
  });

  test("begins with a small file, for Pi transpiles that one itself", () => {
    expect(statSync(ENTRY).size).toBeLessThan(5_000);
    // The folder is no module folder: what Pi loads as it is gets none of Pi's own packages.
    expect(readFileSync(join(FOLDER, "package.json"), "utf8")).toBe("{}\n");
  });

  test("imports Pi's packages in that file alone", () => {
    const imports = [...needs(ENTRY), ...needs(main())].map((file) => ({
      file,
      pi: importsOf(file).always.filter((name) => name.startsWith("@earendil-works/")),
    }));
    expect(imports.filter(({ pi }) => pi.length > 0)).toEqual([
      {
        file: ENTRY,
        pi: ["@earendil-works/pi-coding-agent", "@earendil-works/pi-tui"],
      },
    ]);
  });

  test("needs no wire until a session has begun", () => {
    const first = needs(main());
    expect(bytes(first)).toBeLessThan(120_000);
    const texts = [...first].map((file) => readFileSync(file, "utf8"));
    expect(texts.filter((text) => text.includes("node:http2"))).toEqual([]);
    const wire = importsOf(main()).later.find((name) => name.includes("wire"));
    expect(wire).toBeDefined();
    const all = [...needs(join(FOLDER, wire ?? ""))].map((file) => readFileSync(file, "utf8"));
    expect(all.some((text) => text.includes('from "http2"') || text.includes("node:http2"))).toBe(
      true,
    );
  });
});
