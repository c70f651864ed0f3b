import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { crashMark } from "../../../src/platform/crash-points.ts";

const MODULE = join(import.meta.dirname, "../../../src/platform/crash-points.ts");

/** Passes a point three times with one detail and once with another, and says how far it came. */
const PROGRAM = `
  import { crashPoint } from ${JSON.stringify(MODULE)};
  import { writeSync } from "node:fs";
  for (const detail of ["advance", "advance", "settle", "advance"]) {
    crashPoint("commit.before", detail);
    writeSync(1, ".");
  }
`;

/** Several starts of Node.js, one after the other. */
const STARTS_MS = 20_000;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "crash-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("a crash point", () => {
  test.each([
    [undefined, 4],
    ["", 4],
    ["commit.after", 4],
    ["commit.before:finish", 4],
    ["commit.before", 0],
    ["commit.before#3", 2],
    ["commit.before:settle", 2],
    ["commit.before:advance#3", 3],
    ["commit.before#5", 4],
  ])("armed by %j lets the process come past %i points", (armed, passed) => {
    const { signal, stdout } = run({ PI_WORKFLOWS_CRASH: armed });
    expect(stdout).toBe(".".repeat(passed));
    expect(signal).toBe(passed === 4 ? null : "SIGKILL");
  });

  test("armed for one process lets its successors pass", { timeout: STARTS_MS }, () => {
    const env = { PI_WORKFLOWS_CRASH: "commit.before#2", PI_WORKFLOWS_CRASH_ONCE: folder };
    expect(run(env)).toEqual({ signal: "SIGKILL", stdout: "." });
    expect(existsSync(join(folder, crashMark("commit.before#2")))).toBe(true);
    expect(run(env)).toEqual({ signal: null, stdout: "...." });
  });

  test("among several is the death of one process each", { timeout: STARTS_MS }, () => {
    const env = {
      PI_WORKFLOWS_CRASH: "commit.before:settle,commit.before:advance#2,commit.after",
      PI_WORKFLOWS_CRASH_ONCE: folder,
    };
    expect(run(env)).toEqual({ signal: "SIGKILL", stdout: "." });
    expect(run(env)).toEqual({ signal: "SIGKILL", stdout: ".." });
    expect(run(env)).toEqual({ signal: null, stdout: "...." });
    expect(readdirSync(folder).toSorted()).toEqual([
      "died-at-commit-before-advance-2",
      "died-at-commit-before-settle",
    ]);
  });
});

function run(env: NodeJS.ProcessEnv): { signal: string | null; stdout: string } {
  const { signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", PROGRAM],
    { encoding: "utf8", env: { ...process.env, ...env } },
  );
  expect(stderr).toBe("");
  return { signal, stdout };
}
