import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { jsonValue } from "../../../src/client/json-value.ts";
import { AttemptStatus } from "../../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { RunStatus, RunViewSchema } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { problemsOf } from "../../soak/endings.ts";
import { KIND_NAMES, planRun } from "../../soak/kinds.ts";
import type { Plan } from "../../soak/kinds.ts";
import type { KnownRun } from "../../soak/ledger.ts";
import { numbers } from "../../support/numbers.ts";

const ACTS: Plan = {
  kind: "manual",
  workflow: "acts",
  input: {},
  ending: { status: RunStatus.COMPLETED, result: { n: 1 } },
  effectFile: "effects",
};
const FAILS: Plan = {
  kind: "fails",
  workflow: "fails",
  input: {},
  ending: { status: RunStatus.FAILED, error: { name: "RangeError", message: "for good" } },
};
const DONE = { node: "manual", visit: 1, status: AttemptStatus.OK };

function problems(
  plan: Plan,
  view: MessageInitShape<typeof RunViewSchema>,
  { cancelled = false, effects = 0 } = {},
): readonly string[] {
  const state = { cancelled, paused: false, busy: false, commands: 0 };
  const run: KnownRun = { key: "s1-1", plan, runId: "run_1", startedAt: 0, ...state };
  return problemsOf(run, create(RunViewSchema, view), effects);
}

const completed = (n: number) => ({
  summary: { status: RunStatus.COMPLETED },
  result: jsonValue({ n }),
  attempts: [DONE],
});

describe("the end of a run", () => {
  test("is as it must be", () => {
    expect(problems(ACTS, completed(1), { effects: 1 })).toEqual([]);
    const error = { name: "RangeError", message: "for good" };
    expect(problems(FAILS, { summary: { status: RunStatus.FAILED }, error })).toEqual([]);
    const cancelled = { summary: { status: RunStatus.CANCELLED } };
    expect(problems(ACTS, cancelled, { cancelled: true, effects: 1 })).toEqual([]);
  });

  test.each([
    ["another result", ACTS, completed(2), { effects: 1 }, /has the result \{"n":2\}/],
    ["no effect", ACTS, completed(1), { effects: 0 }, /had its effect 0 times/],
    ["its effect twice", ACTS, completed(1), { effects: 2 }, /had its effect 2 times/],
    [
      "a visit done twice",
      ACTS,
      { ...completed(1), attempts: [DONE, { ...DONE, attempt: 2 }] },
      { effects: 1 },
      /has done manual 1 twice/,
    ],
    ["a lost cancel", ACTS, completed(1), { cancelled: true, effects: 1 }, /ended as completed/],
    [
      "a cancel of nobody's",
      ACTS,
      { summary: { status: RunStatus.CANCELLED } },
      {},
      /ended as cancelled/,
    ],
    [
      "another error",
      FAILS,
      { summary: { status: RunStatus.FAILED }, error: { name: "TypeError", message: "for good" } },
      {},
      /has the error TypeError: "for good"/,
    ],
    [
      "another message",
      FAILS,
      { summary: { status: RunStatus.FAILED }, error: { name: "RangeError", message: "no" } },
      {},
      /has the error RangeError: "no"/,
    ],
  ])("is found with %s", (...[, plan, view, ends, words]) => {
    expect(problems(plan, view, ends)).toEqual([expect.stringMatching(words)]);
  });
});

describe("a planned run", () => {
  test("is of each kind in time, and the same for the same seed", () => {
    const plans = (seed: number) => {
      const chance = numbers(seed);
      return Array.from({ length: 100 }, (_, n) =>
        planRun({ chance, key: `k-${n}`, outside: "/outside", stretch: 1 }),
      );
    };
    expect(new Set(plans(1).map(({ kind }) => kind))).toEqual(new Set(KIND_NAMES));
    expect(plans(1)).toEqual(plans(1));
    expect(plans(1)).not.toEqual(plans(2));
  });
});
