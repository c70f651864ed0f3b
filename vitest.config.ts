import { defineConfig } from "vitest/config";

const seconds = (count: number): number => count * 1000;

/** Projects that start real processes need the bundles; they are built once per test run. */
const buildsFirst = ["test/support/global-setup.ts"];

export default defineConfig({
  test: {
    // Two cores: a third file at once only makes every timeout less meaningful.
    maxWorkers: 2,
    pool: "forks",
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      { extends: true, test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: seconds(5) } },
      {
        extends: true,
        test: { name: "integration", include: ["test/integration/**/*.test.ts"], testTimeout: seconds(15) },
      },
      {
        extends: true,
        test: { name: "architecture", include: ["test/architecture/**/*.test.ts"], testTimeout: seconds(30) },
      },
      {
        extends: true,
        test: {
          name: "fault",
          include: ["test/fault/**/*.test.ts"],
          globalSetup: buildsFirst,
          testTimeout: seconds(60),
          hookTimeout: seconds(30),
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: buildsFirst,
          testTimeout: seconds(120),
          hookTimeout: seconds(120),
        },
      },
      {
        extends: true,
        test: {
          name: "bench",
          include: ["test/bench/**/*.test.ts"],
          globalSetup: buildsFirst,
          // A measurement that shares the machine with another measures both.
          fileParallelism: false,
          testTimeout: seconds(600),
          hookTimeout: seconds(120),
        },
      },
    ],
  },
});
