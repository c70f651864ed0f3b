import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SOURCE, edited } from "./defect-hooks.ts";
import { DEFECTS } from "./defects.ts";

const MAIN = join(import.meta.dirname, "main.ts");
/** One for each core. */
const SHARES = 2;
const SEEDS = 300;
const STEPS = 200;
/** Most defects are noticed much sooner. */
const SEEDS_TO_NOTICE = 60;

const KINDS = [
  ..."admit launch attach advance finish wait settle validate reject interrupt verdict".split(" "),
  ..."pause resume block resolve cancel effect_begin hosts".split(" "),
];

interface Simulated {
  readonly code: number | null;
  readonly output: string;
}

function simulate(...args: readonly string[]): Promise<Simulated> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const take = (data: Buffer): void => {
      output += data.toString();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

describe("the host core under simulated faults", () => {
  test(`loses nothing, does nothing twice and comes to its end in ${SEEDS} seeds of ${STEPS} steps`, async () => {
    const share = SEEDS / SHARES;
    const shares = await Promise.all(
      Array.from({ length: SHARES }, (_, index) =>
        simulate("--first", `${1 + index * share}`, "--seeds", `${share}`, "--steps", `${STEPS}`),
      ),
    );
    for (const { code, output } of shares) {
      expect(output).toContain(`${share} seeds of ${STEPS} steps: 0 with faults`);
      expect(code).toBe(0);
      // A life in which a kind of thing never happens proves nothing about it.
      expect(KINDS.filter((kind) => !output.includes(`${kind} `))).toEqual([]);
    }
  });

  test("is the same again for the same seed", async () => {
    const lives = await Promise.all(
      [1, 2].map(() => simulate("--first", "3", "--seeds", "2", "--steps", `${STEPS}`)),
    );
    expect(lives[0]?.output).toMatch(/advance \d/);
    expect(lives[0]?.output).toBe(lives[1]?.output);
  });
});

describe("a deliberate defect", () => {
  test("is made of edits that fit the source as it is", () => {
    for (const { edits } of DEFECTS) {
      for (const edit of edits) {
        const source = readFileSync(join(SOURCE, edit.file), "utf8");
        expect(edited(source, edit)).not.toBe(source);
      }
    }
    expect(DEFECTS.length).toBeGreaterThanOrEqual(12);
  });

  test.concurrent.each(DEFECTS.map(({ name, means }) => [name, means]))(
    "is noticed: %s, so that %s",
    async (name) => {
      const { code, output } = await simulate(
        "--until-fault",
        `--seeds=${SEEDS_TO_NOTICE}`,
        `--steps=${STEPS}`,
        `--defect=${name}`,
      );
      expect(output).toMatch(/^seed \d+ broke after \d+ steps:$/m);
      expect(code).toBe(1);
    },
  );
});
