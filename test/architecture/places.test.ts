import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesBelow, ROOT, sourceFiles } from "./source-tree.ts";
import type { SourceFile } from "./source-tree.ts";
import { isString, tokensOf } from "./tokens.ts";

const LINES_MAX = 300;

const SQL =
  /\b(?:SELECT\s[\s\S]*\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(?:TABLE|INDEX|UNIQUE|TRIGGER|VIEW)|PRAGMA\s+\w|BEGIN\s+(?:IMMEDIATE|EXCLUSIVE|DEFERRED))/;

/** The machine's time, randomness and environment, as they appear in code without spaces. */
const MACHINE = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\.now\b/,
  /\bprocess\.(?:env|hrtime|uptime)\b/,
  /\bMath\.random\b/,
  /\b(?:randomUUID|randomBytes|randomInt|getRandomValues)\b/,
  /(?<!\.)\b(?:setTimeout|setInterval)\(/,
  /\bset(?:Timeout|Interval)\b[^}]*\}from"node:timers/,
];

// Files of these projects share a process: a module that one has loaded stays for the next.
test.each(["unit", "integration", "architecture"])("no %s test replaces a module", (project) => {
  const replaces = /\bvi\.(?:do)?[mM]ock\(|\bvi\.resetModules\(/;
  const found = sourceFiles(`test/${project}`)
    .filter(({ path, text }) => replaces.test(text) && path !== "test/architecture/places.test.ts")
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

describe("time, randomness and environment", () => {
  test("are read in src/platform alone", () => {
    const found = sourceFiles("src")
      .filter((file) => !file.path.startsWith("src/platform/"))
      .flatMap(readsOfTheMachine);
    expect(found).toEqual([]);
  });

  test.each([
    "const at = Date.now();",
    "const at = new Date();",
    "const id = Math.random();",
    "const id = crypto.randomUUID();",
    "const home = process.env.HOME;",
    "setTimeout(() => run(), 10);",
    'import { setTimeout as sleep } from "node:timers/promises";',
  ])("are recognised in `%s`", (text) => {
    expect(readsOfTheMachine({ path: "x.ts", text })).toHaveLength(1);
  });

  test.each([
    "// Date.now() is not read here.",
    "const at = new Date(ms);",
    "clock.now();",
    'import { setImmediate as turn } from "node:timers/promises";',
  ])("are not seen in `%s`", (text) => {
    expect(readsOfTheMachine({ path: "x.ts", text })).toEqual([]);
  });
});

describe("SQL", () => {
  test("is written in src/host/store alone", () => {
    const found = sourceFiles("src")
      .filter((file) => !file.path.startsWith("src/host/store/"))
      .flatMap(statements);
    expect(found).toEqual([]);
  });

  test("is recognised in a string and not in a sentence", () => {
    expect(statements({ path: "x.ts", text: 'db.exec("DELETE FROM runs");' })).toEqual(["x.ts:1"]);
    expect(statements({ path: "x.ts", text: 'log("SELECT a run first");' })).toEqual([]);
  });

  test("is what the store is made of", () => {
    expect(sourceFiles("src/host/store").flatMap(statements).length).toBeGreaterThan(10);
  });
});

describe("every file", () => {
  // oxlint holds TypeScript to the same bound and does not read SQL. A service's protocol file is
  // exempt: two thirds of it are the text of the contract, which belongs in one place.
  test(`has at most ${LINES_MAX} lines`, () => {
    const paths = ["src", "test", "scripts", "bin"]
      .flatMap(filesBelow)
      .filter((path) => /\.(?:ts|cjs|sql)$/.test(path) && !path.startsWith("src/gen/"));
    const long = paths.filter((path) => lines(path) > LINES_MAX);
    expect(paths.length).toBeGreaterThan(0);
    expect(long).toEqual([]);
  });
});

function readsOfTheMachine({ path, text }: SourceFile): readonly string[] {
  const code = codeLines(text);
  return MACHINE.flatMap((pattern) =>
    code.flatMap((line, index) => (pattern.test(line ?? "") ? [`${path}:${index}`] : [])),
  );
}

/** Each line's tokens: comments gone, and a space only where two words meet. */
function codeLines(text: string): readonly (string | undefined)[] {
  const code: (string | undefined)[] = [];
  for (const { text: token, line } of tokensOf(text)) {
    const before = code[line] ?? "";
    code[line] = before + (/\w$/.test(before) && /^\w/.test(token) ? " " : "") + token;
  }
  return code;
}

function statements({ path, text }: SourceFile): readonly string[] {
  return tokensOf(text)
    .filter((token) => isString(token) && SQL.test(token.text))
    .map((token) => `${path}:${token.line}`);
}

function lines(path: string): number {
  return readFileSync(join(ROOT, path), "utf8").trimEnd().split("\n").length;
}
