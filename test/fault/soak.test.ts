// A soak takes half an hour and is run by hand. Here it runs for seconds, so that it stays able to.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = join(import.meta.dirname, "../soak/main.ts");
/** The time it takes to finish what it began is the machine's. */
const PATIENCE_MS = 420_000;

interface Numbers {
  readonly faults: readonly { readonly what: string }[];
  readonly ended: Readonly<Record<string, number>>;
  readonly deeds: Readonly<Record<string, number>>;
  readonly samples: readonly { readonly epoch: number; readonly residentMb: number }[];
}

async function soak(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = new Promise<number | null>((resolve) => {
    child.once("close", (code) => resolve(code));
  });
  const output = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await closed, output: output.join("") };
}

test(
  "a soak of seconds finds nothing, and says what it did",
  async () => {
    const reports = mkdtempSync(join(tmpdir(), "r-"));
    onTestFinished(() => rmSync(reports, { recursive: true, force: true }));
    const size = ["--minutes", "0.35", "--runs", "6", "--capacity", "3"];
    const { code, output } = await soak([...size, "--reports", reports]);
    // Our own program wrote it.
    const numbers = JSON.parse(readFileSync(join(reports, "soak.json"), "utf8")) as Numbers;
    expect(numbers.faults).toEqual([]);
    expect(output).toContain("nothing was lost, left or growing");
    expect(code).toBe(0);
    const ended = Object.values(numbers.ended).reduce((sum, count) => sum + count, 0);
    expect(ended).toBeGreaterThan(0);
    const { deeds } = numbers;
    expect((deeds["host killed"] ?? 0) + (deeds["host stopped"] ?? 0)).toBeGreaterThan(0);
    expect(numbers.samples.some(({ residentMb }) => residentMb > 10)).toBe(true);
    expect(readFileSync(join(reports, "soak.svg"), "utf8")).toContain(
      "Resident memory of the host",
    );
  },
  PATIENCE_MS,
);

test("a soak that is told nonsense says how it is used", async () => {
  const { code, output } = await soak(["--minutes", "soon"]);
  expect(code).toBe(2);
  expect(output).toMatch(/--minutes must be a number[\s\S]*usage: npm run soak/);
});
