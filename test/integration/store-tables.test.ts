import { describe, expect, test } from "vitest";
import type { Tx } from "../../src/host/store/tx.ts";
import {
  attemptRecord,
  claimRecord,
  commandRecord,
  effectRecord,
  interactionRecord,
  putRun,
  putRunning,
  timerRecord,
  workerRecord,
} from "../support/records.ts";
import { openTestStore } from "../support/test-store.ts";

describe("attempts", () => {
  test("are found by id, run, visit and outcome", async () => {
    const { store } = openTestStore();
    const { runId, attempts } = await store.write("put", (tx) => {
      const run = putRun(tx, { status: "running" });
      const closed = { finishedAt: 2 } as const;
      const made = [
        attemptRecord(run.runId, {
          status: "failed",
          error: { name: "E", message: "m" },
          ...closed,
        }),
        attemptRecord(run.runId, {
          ordinal: 2,
          attempt: 2,
          status: "ok",
          output: { json: "1" },
          ...closed,
        }),
        attemptRecord(run.runId, { ordinal: 3, node: "ship", status: "interrupted", ...closed }),
        attemptRecord(run.runId, { ordinal: 4, node: "ship", attempt: 2, timeoutMs: 50 }),
      ];
      for (const attempt of made) tx.put.attempt(attempt);
      return { runId: run.runId, attempts: made };
    });
    const [failed, ok, , open] = attempts;
    const reader = store.reader.attempts;
    expect(reader.get(failed?.attemptId ?? "")).toStrictEqual(failed);
    expect(reader.open(runId)).toStrictEqual(open);
    expect(reader.newest(runId)).toStrictEqual(open);
    expect(reader.lastOfRun(runId, 3)).toStrictEqual(attempts.slice(1));
    expect(reader.ofVisit(runId, "draft", 1)).toStrictEqual([failed, ok]);
    expect(reader.newestClosedPerNode(runId)).toStrictEqual([ok]);
    expect(reader.newestOk(runId, "draft")).toStrictEqual(ok);
    expect(reader.newestOk(runId, "ship")).toBeUndefined();
    expect(reader.maxVisit(runId, "draft")).toBe(1);
    expect(reader.maxVisit(runId, "unseen")).toBe(0);
    expect(reader.countOpen(runId)).toBe(1);
    await store.write("close", (tx) =>
      tx.put.attemptChange(open?.attemptId ?? "", { status: "timed_out", finishedAt: 9 }),
    );
    expect(reader.countOpen(runId)).toBe(0);
    expect(reader.newestClosedPerNode(runId).map((one) => one.status)).toEqual(["ok", "timed_out"]);
  });
});

describe("claims", () => {
  test("are open, of a generation, or expired in their own epoch", async () => {
    const { store } = openTestStore();
    const { runId, otherId } = await store.write("put", (tx) => {
      const run = putRun(tx, { status: "running" });
      tx.put.claim(claimRecord(run.runId, { released: true }));
      tx.put.claim(claimRecord(run.runId, { generation: 2, expiry: 50 }));
      const other = putRun(tx, { status: "running" });
      tx.put.claim(claimRecord(other.runId, { epoch: 2, expiry: 10 }));
      return { runId: run.runId, otherId: other.runId };
    });
    const { claims } = store.reader;
    expect(claims.open(runId)?.generation).toBe(2);
    expect(claims.get(runId, 1)?.released).toBe(true);
    expect(claims.get(runId, 3)).toBeUndefined();
    expect(claims.expired(1, 49)).toEqual([]);
    expect(claims.expired(1, 50).map((claim) => claim.runId)).toEqual([runId]);
    expect(claims.expired(2, 50).map((claim) => claim.runId)).toEqual([otherId]);
    expect(claims.allOpen()).toHaveLength(2);
    await store.write("release", (tx) =>
      tx.put.claimChange(runId, 2, { released: true, lastNumber: 4, lastAnswer: "{}" }),
    );
    expect(claims.open(runId)).toBeUndefined();
    expect(claims.get(runId, 2)).toMatchObject({ lastNumber: 4, lastAnswer: "{}" });
  });
});

describe("workers", () => {
  test("are live until their end is written", async () => {
    const { store } = openTestStore();
    const { runId, first, second } = await store.write("put", (tx) => {
      const run = putRun(tx);
      const made = {
        runId: run.runId,
        first: workerRecord(run.runId),
        second: workerRecord(run.runId, { generation: 2, startedAt: 5 }),
      };
      tx.put.worker(made.first);
      tx.put.worker(made.second);
      return made;
    });
    const { workers } = store.reader;
    expect(workers.live()).toStrictEqual([first, second]);
    await store.write("end", (tx) =>
      tx.put.workerChange(first.workerId, {
        endedAt: 4,
        exitCode: 7,
        exitSignal: "SIGKILL",
        exitReason: "crashed",
      }),
    );
    expect(workers.live()).toStrictEqual([second]);
    expect(workers.get(first.workerId)).toMatchObject({ exitCode: 7, exitReason: "crashed" });
    expect(workers.newest(runId)).toStrictEqual(second);
    expect(workers.ofRun(runId).map((one) => one.generation)).toEqual([1, 2]);
  });
});

describe("interactions", () => {
  test("are open until closed, listed by id and due only while their run waits", async () => {
    const { store } = openTestStore();
    const { runId, first, second } = await store.write("put", (tx) => {
      const run = putRun(tx, { status: "waiting" });
      const attempt = attemptRecord(run.runId, { status: "waiting" });
      tx.put.attempt(attempt);
      const made = {
        runId: run.runId,
        first: interactionRecord(attempt, { status: "expired", closedAt: 3, deadlineAt: 5 }),
        second: interactionRecord(attempt, {
          request: { json: "{}" },
          schema: { json: "true" },
          deadlineAt: 50,
          createdAt: 9,
        }),
      };
      tx.put.interaction(made.first);
      tx.put.interaction(made.second);
      return made;
    });
    const { interactions } = store.reader;
    expect(interactions.get(second.interactionId)).toStrictEqual(second);
    expect(interactions.open(runId)).toStrictEqual(second);
    expect(interactions.ofAttempt(second.attemptId)).toStrictEqual(second);
    expect(interactions.countPending()).toBe(1);
    expect(interactions.idsByPrefix("int_", 9)).toEqual([
      first.interactionId,
      second.interactionId,
    ]);
    expect(interactions.page({ includeClosed: false, limit: 9 })).toStrictEqual([second]);
    expect(interactions.page({ runId, includeClosed: true, limit: 1 })).toStrictEqual([first]);
    expect(
      interactions.page({ runId, includeClosed: true, after: first.interactionId, limit: 9 }),
    ).toStrictEqual([second]);
    expect(interactions.page({ runId: "run_none", includeClosed: true, limit: 9 })).toEqual([]);
    expect(interactions.due(49, 9)).toEqual([]);
    expect(interactions.due(50, 9)).toStrictEqual([second]);
    expect(interactions.nextDeadline()).toBe(50);
    await store.write("pause", (tx) => tx.put.runChange(runId, { status: "paused" }));
    expect(interactions.due(50, 9)).toEqual([]);
    expect(interactions.nextDeadline()).toBeUndefined();
    await store.write("answer", (tx) =>
      tx.put.interactionChange(second.interactionId, {
        status: "accepted",
        answer: { json: "1" },
        answerDigest: "d",
        answeredBy: "a person",
        closedAt: 60,
      }),
    );
    expect(interactions.open(runId)).toBeUndefined();
  });
});

describe("timers", () => {
  test("are due only while their run waits", async () => {
    const { store } = openTestStore();
    const { runId, timer } = await store.write("put", (tx) => {
      const run = putRun(tx, { status: "waiting" });
      const attempt = attemptRecord(run.runId, { status: "waiting" });
      tx.put.attempt(attempt);
      const made = timerRecord(attempt);
      tx.put.timer(made);
      return { runId: run.runId, timer: made };
    });
    const { timers } = store.reader;
    expect(timers.open(runId)).toStrictEqual(timer);
    expect(timers.ofAttempt(timer.attemptId)).toStrictEqual(timer);
    expect(timers.due(999, 9)).toEqual([]);
    expect(timers.due(1_000, 9)).toStrictEqual([timer]);
    expect(timers.nextDue()).toBe(1_000);
    await store.write("pause", (tx) => tx.put.runChange(runId, { status: "paused" }));
    expect(timers.due(1_000, 9)).toEqual([]);
    expect(timers.nextDue()).toBeUndefined();
    await store.write("cancel", (tx) =>
      tx.put.timerChange(timer.timerId, { status: "cancelled", closedAt: 2 }),
    );
    expect(timers.open(runId)).toBeUndefined();
  });
});

describe("effects", () => {
  test("are found by key and status, with their applications", async () => {
    const { store } = openTestStore();
    const { runId, effect, ambiguous } = await store.write("put", (tx) => {
      const { run, attempt } = putRunning(tx);
      const made = {
        runId: run.runId,
        effect: effectRecord(run.runId, { status: "applying", observable: true }),
        ambiguous: effectRecord(run.runId, { status: "ambiguous", detail: "who knows" }),
      };
      tx.put.effect(made.effect);
      tx.put.effect(made.ambiguous);
      putApplications(tx, made.effect.effectId, attempt.attemptId);
      return made;
    });
    const { effects } = store.reader;
    expect(effects.get(effect.effectId)).toStrictEqual(effect);
    expect(effects.byKey(effect.key)).toStrictEqual(effect);
    expect(effects.byKey("none")).toBeUndefined();
    expect(effects.idsByPrefix("eff_", 1)).toEqual([effect.effectId]);
    expect(effects.ofRun(runId)).toStrictEqual([effect, ambiguous]);
    expect(effects.unsettled(runId)).toHaveLength(2);
    expect(effects.applyingOfRun(runId)).toStrictEqual([effect]);
    expect(effects.page({ limit: 9 })).toStrictEqual([ambiguous, effect]);
    expect(effects.page({ runId, statuses: ["ambiguous"], limit: 9 })).toStrictEqual([ambiguous]);
    expect(effects.page({ before: ambiguous.effectId, limit: 9 })).toStrictEqual([effect]);
    expect(effects.countAmbiguous()).toBe(1);
    expect(effects.anyApplying()).toBe(true);
    expect(effects.applications(effect.effectId)).toBe(2);
    expect(effects.applications(ambiguous.effectId)).toBe(0);
    expect(effects.lastAttempt(effect.effectId)?.application).toBe(2);
    expect(effects.liveProcesses(runId).map((one) => one.pid)).toEqual([42]);
    await store.write("settle", (tx) => {
      tx.put.effectAttemptChange(effect.effectId, 2, { endedAt: 5, outcome: "applied" });
      tx.put.effectChange(effect.effectId, {
        status: "applied",
        receipt: { json: "{}" },
        unknownBefore: true,
      });
    });
    expect(effects.liveProcesses(runId)).toEqual([]);
    expect(effects.anyApplying()).toBe(false);
    expect(effects.get(effect.effectId)).toMatchObject({ unknownBefore: true, status: "applied" });
  });
});

function putApplications(tx: Tx, effectId: string, attemptId: string): void {
  tx.put.effectAttempt({ effectId, attemptId, application: 1, beganAt: 1, endedAt: 2, pid: 41 });
  tx.put.effectAttempt({ effectId, attemptId, application: 2, beganAt: 3 });
  tx.put.effectAttemptChange(effectId, 2, { pid: 42, startTime: "9", bootId: "boot" });
}

describe("progress, commands and epochs", () => {
  test("keep the newest progress of each node", async () => {
    const { store } = openTestStore();
    const { runId } = await store.write("put", (tx) => putRun(tx));
    for (const [node, text, at] of [
      ["draft", "10 %", 1],
      ["ship", "go", 2],
      ["draft", "20 %", 3],
    ] as const)
      await store.write("progress", (tx) => tx.put.progress({ runId, node, text, at }));
    expect(store.reader.progress.ofRun(runId)).toEqual([
      { runId, node: "ship", text: "go", at: 2 },
      { runId, node: "draft", text: "20 %", at: 3 },
    ]);
  });

  test("keep a command's receipt, once", async () => {
    const { store } = openTestStore();
    const receipt = commandRecord({ runId: "run_gone", extra: '{"a":1}' });
    await store.write("command", (tx) => tx.put.command(receipt));
    expect(store.reader.commands.get(receipt.key)).toStrictEqual(receipt);
    await expect(store.write("again", (tx) => tx.put.command(receipt))).rejects.toThrow("UNIQUE");
  });

  test("remember the last host", async () => {
    const { store } = openTestStore();
    expect(store.reader.epochs.last()).toBeUndefined();
    const epoch = { epoch: 1, pid: 1, startTime: "1", bootId: "b", version: "0.1.0", startedAt: 1 };
    await store.write("epoch", (tx) => tx.put.epoch(epoch));
    await store.write("epoch", (tx) => tx.put.epoch({ ...epoch, epoch: 2 }));
    await store.write("end", (tx) => tx.put.epochEnded(2, 77));
    expect(store.reader.epochs.last()).toEqual({ ...epoch, epoch: 2, endedAt: 77 });
  });
});
