import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSchema } from "../../src/host/store/schema.ts";
import type { Tx } from "../../src/host/store/tx.ts";
import {
  attemptRecord,
  claimRecord,
  effectRecord,
  eventRecord,
  interactionRecord,
  putRun,
  putRunning,
  runRecord,
  timerRecord,
  GRAPH,
} from "../support/records.ts";
import { openTestStore } from "../support/test-store.ts";

// What the lifecycle tables already forbid, the schema forbids a second time, so
// that a fault of ours ends as an error and never as a contradiction in the rows.

interface Case {
  readonly says: string;
  readonly write: (tx: Tx) => void;
  readonly error: RegExp;
}

/** Takes what the types forbid, as a fault of ours would hand it over. */
const wrong = (value: unknown): never => value as never;

const cases: readonly Case[] = [
  {
    says: "text in a number's column",
    write: (tx) => void putRun(tx, { steps: wrong("many") }),
    error: /cannot store TEXT value in INTEGER column runs.steps/,
  },
  {
    says: "a run without a status of the table",
    write: (tx) => void putRun(tx, { status: wrong("sleeping") }),
    error: /CHECK constraint failed: status IN/,
  },
  {
    says: "a run without its input",
    write: (tx) => tx.put.run(runRecord({ input: wrong({}) }), GRAPH),
    error: /CHECK constraint failed: \(input_json/,
  },
  {
    says: "a blocked run without a reason",
    write: (tx) => void putRun(tx, { status: "blocked" }),
    error: /CHECK constraint failed: \(status = 'blocked'\)/,
  },
  {
    says: "a terminal run without its end",
    write: (tx) => void putRun(tx, { status: "failed" }),
    error: /CHECK constraint failed/,
  },
  {
    says: "a wish to pause a run that does not run",
    write: (tx) => void putRun(tx, { pauseRequested: true }),
    error: /CHECK constraint failed: pause_requested/,
  },
  {
    says: "two runs in one place",
    write: (tx) => void [putRun(tx), putRun(tx, { position: 1 })],
    error: /UNIQUE constraint failed: runs.position/,
  },
  {
    says: "two open attempts of a run",
    write(tx) {
      const { run } = putRunning(tx);
      tx.put.attempt(attemptRecord(run.runId, { ordinal: 2, attempt: 2, status: "waiting" }));
    },
    error: /UNIQUE constraint failed/,
  },
  {
    says: "an open attempt that has ended",
    write: (tx) => tx.put.attempt(attemptRecord(putRun(tx).runId, { finishedAt: 3 })),
    error: /CHECK constraint failed/,
  },
  {
    says: "another outcome for a closed attempt",
    write(tx) {
      const { attempt } = putRunning(tx);
      tx.put.attemptChange(attempt.attemptId, { status: "ok", finishedAt: 2 });
      tx.put.attemptChange(attempt.attemptId, { status: "failed" });
    },
    error: /a closed attempt stays closed/,
  },
  {
    says: "two open claims of a run",
    write: (tx) => tx.put.claim(claimRecord(putRunning(tx).run.runId, { generation: 2 })),
    error: /UNIQUE constraint failed/,
  },
  {
    says: "two open interactions of a run",
    write(tx) {
      const { attempt } = putRunning(tx);
      tx.put.interaction(interactionRecord(attempt));
      tx.put.interaction(interactionRecord(attempt));
    },
    error: /UNIQUE constraint failed/,
  },
  {
    says: "an accepted interaction without an answer",
    write(tx) {
      const { attempt } = putRunning(tx);
      tx.put.interaction(interactionRecord(attempt, { status: "accepted", closedAt: 3 }));
    },
    error: /CHECK constraint failed/,
  },
  {
    says: "two open timers of a run",
    write(tx) {
      const { attempt } = putRunning(tx);
      tx.put.timer(timerRecord(attempt));
      tx.put.timer(timerRecord(attempt));
    },
    error: /UNIQUE constraint failed/,
  },
  {
    says: "two effects under one key",
    write(tx) {
      const { runId } = putRun(tx);
      tx.put.effect(effectRecord(runId, { key: "k" }));
      tx.put.effect(effectRecord(runId, { key: "k" }));
    },
    error: /UNIQUE constraint failed: effects.key/,
  },
  {
    says: "a row of no run",
    write: (tx) => tx.put.attempt(attemptRecord("run_none")),
    error: /FOREIGN KEY constraint failed/,
  },
  {
    says: "a value whose blob is missing",
    write: (tx) => void putRun(tx, { input: { blob: "f".repeat(64) } }),
    error: /FOREIGN KEY constraint failed/,
  },
  {
    says: "a gap in the events of a run",
    write: (tx) => tx.put.event(eventRecord(putRun(tx).runId, { revision: 3 })),
    error: /numbered without gaps/,
  },
  {
    says: "one revision twice",
    write: (tx) => tx.put.event(eventRecord(putRun(tx).runId)),
    error: /numbered without gaps/,
  },
  {
    says: "a revision that shrinks",
    write: (tx) => tx.put.runChange(putRun(tx, { revision: 2 }).runId, { revision: 1 }),
    error: /never shrink/,
  },
  {
    says: "a generation that shrinks",
    write: (tx) => tx.put.runChange(putRun(tx, { generation: 2 }).runId, { generation: 1 }),
    error: /never shrink/,
  },
  {
    says: "a boundary that shrinks",
    write: (tx) => tx.put.runChange(putRun(tx, { boundary: 2 }).runId, { boundary: 1 }),
    error: /never shrink/,
  },
  {
    says: "life after the end",
    write(tx) {
      const { runId } = putRun(tx, { status: "cancelled", finishedAt: 1 });
      tx.put.runChange(runId, { status: "queued", finishedAt: undefined });
    },
    error: /a terminal run stays terminal/,
  },
  {
    says: "the deletion of a run that has not ended",
    write: (tx) => tx.put.prunedRun(putRun(tx).runId),
    error: /no run that has ended/,
  },
];

describe("the schema refuses", () => {
  test.each(cases)("$says", async ({ write, error }) => {
    const { store } = openTestStore();
    await expect(store.write("wrong", write)).rejects.toThrow(error);
    expect(store.reader.runs.lastPosition()).toBe(0);
    expect(store.stalled).toBe(false);
  });
});

describe("a run cannot end while it leaves open", () => {
  const open: Readonly<Record<string, (tx: Tx) => void>> = {
    "a claim": (tx) => tx.put.claim(claimRecord("run_one")),
    "an attempt": (tx) => tx.put.attempt(attemptRecord("run_one")),
    "an interaction": (tx) => tx.put.interaction(interactionRecord(closedAttempt(tx))),
    "a timer": (tx) => tx.put.timer(timerRecord(closedAttempt(tx))),
    "a pending effect": (tx) => tx.put.effect(effectRecord("run_one")),
    "an effect being applied": (tx) =>
      tx.put.effect(effectRecord("run_one", { status: "applying" })),
  };

  test.each(Object.keys(open))("%s", async (what) => {
    const { store } = openTestStore();
    await store.write("admit", (tx) => {
      putRun(tx, { runId: "run_one", status: "running" });
      open[what]?.(tx);
    });
    const end = store.write("finish", (tx) =>
      tx.put.runChange("run_one", { status: "completed", finishedAt: 5 }),
    );
    await expect(end).rejects.toThrow("a terminal run leaves nothing open");
    expect(store.reader.runs.get("run_one")?.status).toBe("running");
  });

  test("and can when nothing is", async () => {
    const { store } = openTestStore();
    await store.write("admit", (tx) => {
      putRun(tx, { runId: "run_one", status: "running" });
      closedAttempt(tx);
      tx.put.claim(claimRecord("run_one", { released: true }));
      tx.put.effect(effectRecord("run_one", { status: "ambiguous" }));
      tx.put.runChange("run_one", { status: "cancelled", finishedAt: 5 });
    });
    expect(store.reader.runs.get("run_one")?.status).toBe("cancelled");
  });
});

function closedAttempt(tx: Tx): ReturnType<typeof attemptRecord> {
  const attempt = attemptRecord("run_one", { status: "ok", finishedAt: 2 });
  tx.put.attempt(attempt);
  return attempt;
}

describe("docs/store.md", () => {
  test("names every table of the schema, and no other", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/store.md"), "utf8");
    const section = page.slice(page.indexOf("## Tables"), page.indexOf("## Growth"));
    const named = Array.from(section.matchAll(/^\| `(\w+)` +\|/gm), ([, name]) => name);
    const made = Array.from(readSchema().ddl.matchAll(/^CREATE TABLE (\w+)/gm), ([, name]) => name);
    expect(made.length).toBeGreaterThan(10);
    expect(new Set(named)).toEqual(new Set(made));
  });
});
