/** The words of the screen against the protocol, whose numbers they repeat. */
import { describe, expect, test } from "vitest";
import {
  attemptWord,
  DELIVERY,
  hasEnded,
  INTERACTION_KIND,
  msOf,
  RUN_STATUS,
  statusWords,
  wordOfStatus,
  wordsOf,
} from "../../../src/extension/run-words.ts";
import { AttemptStatus } from "../../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import {
  DeliveryState,
  InteractionKind,
} from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { ago, NOW } from "../../support/extension-fakes.ts";

/** The protocol's table as ours are: names in small letters, without the one that is never sent. */
function named(table: Readonly<Record<string, number>>): Record<string, number> {
  const entries = Object.entries(table).filter(([, value]) => value !== 0);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

describe("the numbers of the protocol", () => {
  test("are those of the generated code", () => {
    expect({ ...RUN_STATUS }).toEqual(named(RunStatus));
    expect({ ...INTERACTION_KIND }).toEqual(named(InteractionKind));
    expect({ ...DELIVERY }).toEqual(named(DeliveryState));
  });

  test("have words for every attempt, and none for an unknown one", () => {
    for (const [name, value] of Object.entries(named(AttemptStatus))) {
      expect(attemptWord(value).word).toBe(name);
    }
    expect(attemptWord(99).word).toBe("unknown");
  });
});

describe("a run's status", () => {
  test.each(Object.entries(RUN_STATUS))("%s has a sign and a word of its own", (name, status) => {
    const { sign, word } = statusWords({ status, pauseRequested: false });
    expect(word).toBe(name);
    expect(sign).not.toBe("");
    expect(wordOfStatus(status)).toBe(name);
  });

  test("is told as pausing while an effect is awaited", () => {
    expect(statusWords({ status: RUN_STATUS.running, pauseRequested: true }).word).toBe("pausing");
  });

  test("of a newer host is unknown, and breaks nothing", () => {
    expect(statusWords({ status: 77 as never, pauseRequested: false }).word).toBe("unknown");
    expect(wordsOf("toString").word).toBe("unknown");
  });

  test("has ended from completed on", () => {
    const ended = Object.entries(RUN_STATUS).filter(([, status]) => hasEnded({ status }));
    expect(ended.map(([name]) => name)).toEqual(["completed", "failed", "timed_out", "cancelled"]);
  });
});

test("a time of the wire is a number of milliseconds", () => {
  expect(msOf(ago(1_234))).toBe(NOW - 1_234);
  expect(msOf(undefined)).toBeUndefined();
});
