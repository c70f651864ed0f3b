import { describe, expect, test } from "vitest";
import {
  exitFault,
  isConflict,
  unavailable,
  withLastWords,
} from "../../../../src/host/headless/unavailable.ts";

const NEW =
  "Warning: No project session found with id 'wf-run_1'; creating a new session with that id.";
const exit = (lastWords: string) => ({ how: "exited with code 1", lastWords });

describe("why no Pi could be had", () => {
  test("holds what Pi itself complained about, and not what it always says", () => {
    expect(exitFault(exit(`${NEW}\nError: Model "x" not found.`))).toBe(
      'Pi ended before it began the step (exited with code 1); it said:\nError: Model "x" not found.',
    );
    expect(exitFault(exit(NEW))).toBe("Pi ended before it began the step (exited with code 1)");
    expect(withLastWords("It was deaf", exit("switched off"))).toBe(
      "It was deaf; it said:\nswitched off",
    );
  });

  test("names two copies of the extension and what to do", () => {
    const conflict = exit('Tool "workflow" conflicts with /elsewhere/index.js');
    expect(isConflict(conflict)).toBe(true);
    expect(exitFault(conflict)).toContain("pi remove SOURCE");
    expect(isConflict(exit("out of memory"))).toBe(false);
  });

  test("tells the step and how often it was tried", () => {
    expect(unavailable("draft", 3, "none")).toBe("the step draft found no Pi after 3 starts: none");
    expect(unavailable("draft", 1, "none")).toBe("the step draft found no Pi: none");
  });
});
