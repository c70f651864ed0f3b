import { describe, expect, test } from "vitest";
import { decideEnd } from "../../../src/host/activation/end-of-worker.ts";
import type { EndFacts } from "../../../src/host/activation/end-of-worker.ts";
import type { ExitCause } from "../../../src/host/supervisor/supervised-worker.ts";

const FAILURE = { name: "ProcessExit", message: "process.exit(3)" };

function facts(cause: ExitCause, change: Partial<EndFacts> = {}): EndFacts {
  const exit = { code: undefined, signal: "SIGKILL", cause, reason: "ended by SIGKILL", at: 0 };
  return { released: false, attached: true, exit, ...change };
}

describe("the end of a worker", () => {
  test.each<ExitCause>(["exit", "signal", "disconnected", "protocol", "killed", "stopped"])(
    "by %s is no evidence: the run is interrupted, and that counts",
    (cause) => {
      expect(decideEnd(facts(cause))).toEqual({
        kind: "interrupt",
        counted: true,
        reason: "ended by SIGKILL",
      });
    },
  );

  test("means nothing once the claim is given back, whatever else is known", () => {
    const change = { released: true, failure: FAILURE, hostReason: "x", faultReason: "y" };
    expect(decideEnd(facts("out_of_memory", change))).toEqual({ kind: "nothing" });
  });

  test("by author code fails the attempt", () => {
    const decision = decideEnd(facts("exit", { failure: FAILURE }));
    expect(decision).toEqual({ kind: "verdict", error: FAILURE });
  });

  test("for want of memory fails the attempt", () => {
    expect(decideEnd(facts("out_of_memory"))).toMatchObject({
      kind: "verdict",
      error: { name: "OutOfMemory" },
    });
  });

  test("by author code before the attempt was open blocks the run", () => {
    expect(decideEnd(facts("exit", { attached: false, failure: FAILURE }))).toEqual({
      kind: "block",
      detail: "the workflow cannot be loaded: process.exit(3)",
    });
  });

  test("that the host meant for its own sake counts for nobody, also with last words", () => {
    const change = { hostReason: "the host stopped", failure: FAILURE };
    expect(decideEnd(facts("stopped", change))).toEqual({
      kind: "interrupt",
      counted: false,
      reason: "the host stopped",
    });
  });

  test("that the host meant for the worker's fault counts, and says what it was", () => {
    expect(decideEnd(facts("killed", { faultReason: "broke a rule" }))).toEqual({
      kind: "interrupt",
      counted: true,
      reason: "broke a rule",
    });
  });
});
