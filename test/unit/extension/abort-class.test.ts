import { expect, test } from "vitest";
import { ABORT_HOLD_MS, classifyAbort } from "../../../src/extension/abort-class.ts";

const NOTHING = { shutdown: false, manualCompact: false, hostAsked: false };

test.each([
  [NOTHING, 0, undefined],
  [NOTHING, ABORT_HOLD_MS - 1, undefined],
  [NOTHING, ABORT_HOLD_MS, "aborted"],
  [{ ...NOTHING, shutdown: true }, 0, "lost"],
  [{ ...NOTHING, manualCompact: true }, 10, "lost"],
  [{ ...NOTHING, hostAsked: true }, 0, "stopped"],
  // Pi leaves the session in the middle of it: the branch cannot be trusted.
  [{ ...NOTHING, hostAsked: true, shutdown: true }, 0, "lost"],
] as const)("an abort with %j after %i ms is %s", (signs, heldMs, expected) => {
  expect(classifyAbort(signs, heldMs)).toBe(expected);
});
