import { describe, expect, test } from "vitest";
import { CommandLog } from "../../../../src/worker/nodes/command-log.ts";

function logged(pieces: readonly string[], stderrTail: string): string {
  const printed: string[] = [];
  const log = new CommandLog((stream, text) => printed.push(`${stream}:${text}`));
  for (const piece of pieces) log.add("stdout", piece);
  log.end(stderrTail);
  return printed.join("");
}

describe("what a command prints", () => {
  test("is copied to the run's log as it comes", () => {
    expect(logged(["one\n", "two\n"], "two\n")).toBe("stdout:one\nstdout:two\n");
  });

  test("is cut after a mebibyte, says so once, and still shows the end of stderr", () => {
    const text = logged(["x".repeat(1_048_570), "y".repeat(100), "z"], "it failed\n");
    expect(text.match(/y/g)).toHaveLength(6);
    expect(text.match(/not in the log/g)).toHaveLength(1);
    expect(text).not.toContain("z");
    expect(text.endsWith("stderr:it failed\n")).toBe(true);
  });
});
