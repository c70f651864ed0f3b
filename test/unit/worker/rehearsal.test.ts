import { expect, test, vi } from "vitest";
import { rehearse } from "../../../src/worker/rehearsal.ts";

test("a rehearsal goes through to its end, twice, and leaves no timer", async () => {
  const set = vi.spyOn(globalThis, "setTimeout");
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  await rehearse();
  await rehearse();
  expect(set.mock.calls.length).toBeGreaterThan(0);
  expect(cleared.mock.calls.length).toBeGreaterThanOrEqual(set.mock.calls.length);
});
