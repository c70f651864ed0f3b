import { join } from "node:path";
import { defineConfig } from "vitest/config";
import type { TestProjectInlineConfiguration } from "vitest/config";

const seconds = (count: number): number => count * 1000;

/** Projects that start real processes need the bundles; they are built once per test run. */
const BUILD = "test/support/global-setup.ts";
const SUMMARY = "test/bench/summary.ts";
const PACK = "test/support/pack-setup.ts";

interface ProjectOptions {
  readonly timeoutMs: number;
  /** Projects run in this order; those with the same number share the cores. */
  readonly order: number;
  /** Whether what its tests write goes to a disk. In memory where no test asks what a disk does. */
  readonly folders: "memory" | "disk";
  readonly globalSetup?: readonly string[];
}

function project(name: string, options: ProjectOptions): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      env: { TEST_FOLDERS: options.folders },
      setupFiles: ["test/support/leak-setup.ts"],
      globalSetup: [...(options.globalSetup ?? [])],
      testTimeout: options.timeoutMs,
      hookTimeout: Math.max(options.timeoutMs, seconds(10)),
      sequence: { groupOrder: options.order },
      // Files that start no program of ours share a process, and so the modules it has loaded:
      // loading them anew takes longer than the tests. Such files replace no module (vi.mock).
      isolate: options.order !== 0,
      // Two cores: a third file at once only makes every timeout less meaningful. What starts
      // whole process trees runs alone, and a measurement beside another measures both.
      maxWorkers: options.order === 0 ? 2 : 1,
    },
  };
}

/** The files of examples import us as their users do; tests of them need no build. */
const AUTHORING = join(import.meta.dirname, "src/workflow/index.ts");

export default defineConfig({
  resolve: { alias: [{ find: /^pi-workflows$/, replacement: AUTHORING }] },
  test: {
    pool: "forks",
    restoreMocks: true,
    unstubEnvs: true,
    // Voyages of the fault project: each is a host and its workers, on two cores.
    maxConcurrency: 3,
    projects: [
      project("unit", { order: 0, folders: "memory", timeoutMs: seconds(5) }),
      project("integration", { order: 0, folders: "memory", timeoutMs: seconds(15) }),
      project("architecture", { order: 0, folders: "memory", timeoutMs: seconds(30) }),
      project("simulation", { order: 1, folders: "memory", timeoutMs: seconds(600) }),
      project("fault", {
        order: 2,
        folders: "memory",
        timeoutMs: seconds(180),
        globalSetup: [BUILD],
      }),
      project("e2e", {
        order: 3,
        folders: "disk",
        timeoutMs: seconds(120),
        globalSetup: [BUILD, PACK],
      }),
      project("pi", {
        order: 4,
        folders: "disk",
        timeoutMs: seconds(120),
        globalSetup: [BUILD],
      }),
      project("bench", {
        order: 5,
        folders: "disk",
        timeoutMs: seconds(600),
        globalSetup: [SUMMARY, BUILD],
      }),
    ],
  },
});
