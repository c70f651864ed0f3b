/**
 * Everything CI asks of a commit, in one go: the gates, then every test. All of
 * it runs even when something has failed, because one full answer is worth more
 * than the first complaint. The last line counts gates and tests together.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COUNT_FILE } from "./count-reporter.ts";
import type { Count } from "./count-reporter.ts";

const ROOT = join(import.meta.dirname, "..");
const GATES = [
  "generate:check",
  "format:check",
  "lint:code",
  "lint:proto",
  "typecheck",
  "knip",
  "build",
  "package:check",
];
const PROJECTS = ["unit", "integration", "architecture", "simulation", "fault", "e2e", "pi"];

function main(): number {
  const counts = [...GATES.map(runGate), runTests()];
  const passed = sum(counts.map((count) => count.passed));
  const failed = sum(counts.map((count) => count.failed));
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function runGate(script: string): Count {
  const gate = spawnSync("npm", ["run", "--silent", script], { cwd: ROOT, stdio: "inherit" });
  console.log(`${gate.status === 0 ? "ok    " : "FAILED"} ${script}`);
  return gate.status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function runTests(): Count {
  const folder = mkdtempSync(join(tmpdir(), "pw-count-"));
  const file = join(folder, "count.json");
  try {
    const vitest = spawnSync(
      join(ROOT, "node_modules/.bin/vitest"),
      [
        "run",
        ...PROJECTS.flatMap((project) => ["--project", project]),
        "--reporter=default",
        "--reporter=./scripts/count-reporter.ts",
      ],
      { cwd: ROOT, stdio: "inherit", env: { ...process.env, [COUNT_FILE]: file } },
    );
    return readCount(file, vitest.status === 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run that ended badly counts at least one failure, whatever it has written. */
function readCount(file: string, succeeded: boolean): Count {
  try {
    // Our own reporter wrote it.
    const { passed, failed } = JSON.parse(readFileSync(file, "utf8")) as Count;
    return { passed, failed: succeeded ? failed : Math.max(1, failed) };
  } catch (error) {
    console.error(`vitest left no count: ${String(error)}`);
    return { passed: 0, failed: 1 };
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

process.exitCode = main();
