import { writeFileSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** Where the counts go; whoever starts vitest says so. */
export const COUNT_FILE = "PI_WORKFLOWS_TEST_COUNT_FILE";

/**
 * Writes how many tests passed and failed, and prints nothing. A file that fails
 * outside its tests, and an error that no test caught, count as one failure each.
 */
class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const file = process.env[COUNT_FILE];
    if (file === undefined) return;
    const counts = modules.map(countModule);
    const count: Count = {
      passed: counts.reduce((sum, { passed }) => sum + passed, 0),
      failed: counts.reduce((sum, { failed }) => sum + failed, unhandledErrors.length),
    };
    writeFileSync(file, JSON.stringify(count));
  }
}

function countModule(module: TestModule): Count {
  const failed = [...module.children.allTests("failed")].length;
  const brokenOutside = module.state() === "failed" && failed === 0;
  return {
    passed: [...module.children.allTests("passed")].length,
    failed: brokenOutside ? 1 : failed,
  };
}

export default CountReporter;
