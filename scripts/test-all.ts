/**
 * Everything CI asks of a commit, in one go: the gates, then every test. All of
 * it runs even when something has failed, because one full answer is worth more
 * than the first complaint. The last line counts gates and tests together.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Count {
  readonly passed: number;
  readonly failed: number;
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

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
const PROJECTS = ["unit", "integration", "architecture", "fault", "e2e"];

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
  const folder = mkdtempSync(join(tmpdir(), "pw-report-"));
  const report = join(folder, "vitest.json");
  try {
    const projects = PROJECTS.flatMap((project) => ["--project", project]);
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const vitest = spawnSync(
      join(ROOT, "node_modules/.bin/vitest"),
      ["run", ...projects, ...reporters],
      { cwd: ROOT, stdio: "inherit" },
    );
    return countTests(report, vitest.status === 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run that ends badly counts at least one failure, whatever its report says. */
function countTests(report: string, succeeded: boolean): Count {
  try {
    const { numPassedTests, numFailedTests, testResults } = readReport(report);
    const brokenFiles = testResults.filter(
      (file) =>
        file.status === "failed" &&
        file.assertionResults.every((assertion) => assertion.status !== "failed"),
    );
    const failed = numFailedTests + brokenFiles.length;
    return { passed: numPassedTests, failed: succeeded ? failed : Math.max(1, failed) };
  } catch (error) {
    console.error(`vitest left no report: ${String(error)}`);
    return { passed: 0, failed: 1 };
  }
}

function readReport(file: string): VitestReport {
  // The shape is vitest's own JSON reporter's; the version is pinned.
  return JSON.parse(readFileSync(file, "utf8")) as VitestReport;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

process.exitCode = main();
