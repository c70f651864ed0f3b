import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { BUSY_BUDGET_MS } from "../../src/host/limits.ts";
import type { Store } from "../../src/host/store/store.ts";
import { claimed } from "../../src/host/store/doors.ts";
import type { Timer } from "../../src/platform/clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { putRun, putRunning, TOKEN_HASH } from "../support/records.ts";
import { openTestHost, openTestStore } from "../support/test-store.ts";
import type { TestStore } from "../support/test-store.ts";

// Somebody looks at the database with a tool and holds its lock for a while. The
// host must neither stand still nor lose anybody's claim, and nobody may hear
// of the lock unless it outlasts the budget.

/** A lock that somebody else holds until it is released. */
function foreignLock(path: string): { release(): void } {
  const other = new Database(path, { timeout: 0 });
  onTestFinished(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  return { release: () => other.exec("ROLLBACK") };
}

/** Until the first try has met the lock and its repeat is due on the clock. */
async function untilBusy({ clock }: TestStore): Promise<void> {
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
}

function count(store: Store): number {
  return store.reader.runs.lastPosition();
}

describe.each([4_000, 8_000, BUSY_BUDGET_MS - 500])("a foreign lock held for %i ms", (heldMs) => {
  test("delays writes and is not heard of, while reads go on", async () => {
    const opened = openTestStore();
    const { store, clock, lines } = opened;
    await store.write("admit", (tx) => putRun(tx));
    const lock = foreignLock(opened.path);
    const writes = [store.write("a", (tx) => putRun(tx)), store.write("b", (tx) => putRun(tx))];
    await untilBusy(opened);
    expect(store.stalled).toBe(true);
    clock.advance(heldMs);
    expect(count(store)).toBe(1);
    const late = store.write("late", (tx) => putRun(tx));
    lock.release();
    clock.advance(250);
    const runs = await Promise.all([...writes, late]);
    expect(runs.map((run) => run.position)).toEqual([2, 3, 4]);
    expect(store.stalled).toBe(false);
    expect(lines.map((line) => line.event)).toEqual(["store.busy"]);
  });

  test("costs no worker its claim", async () => {
    const opened = openTestHost();
    const { run, claim } = await opened.store.write("admit", (tx) => putRunning(tx));
    const lock = foreignLock(opened.path);
    const proof = { ...claim, tokenHash: TOKEN_HASH };
    const renewal = claimed(opened.host, "renew", { proof }, () => "renewed");
    await untilBusy(opened);
    opened.clock.advance(heldMs);
    lock.release();
    opened.clock.advance(250);
    await expect(renewal).resolves.toBe("renewed");
    expect(opened.store.reader.claims.open(run.runId)?.generation).toBe(1);
  });
});

describe("a foreign lock that outlasts the budget", () => {
  test("refuses each write after its own twenty seconds and changes nothing", async () => {
    const opened = openTestStore();
    const { store, clock } = opened;
    const lock = foreignLock(opened.path);
    const first = Promise.allSettled([store.write("first", (tx) => putRun(tx))]);
    await untilBusy(opened);
    clock.advance(BUSY_BUDGET_MS / 2);
    const second = store.write("second", (tx) => putRun(tx).position);
    clock.advance(BUSY_BUDGET_MS / 2 + 250);
    expect(await first).toMatchObject([{ reason: { reason: "STORAGE_FAILED" } }]);
    lock.release();
    clock.advance(250);
    await expect(second).resolves.toBe(1);
    expect(count(store)).toBe(1);
  });

  test("lets the store close", async () => {
    const opened = openTestStore();
    const lock = foreignLock(opened.path);
    const write = opened.store.write("first", (tx) => putRun(tx));
    await untilBusy(opened);
    opened.store.close();
    await expect(write).rejects.toMatchObject({ reason: "HOST_STOPPING" });
    expect(opened.clock.pending).toBe(0);
    lock.release();
  });

  test("is tried again less and less often, at most every 250 ms", async () => {
    const delays: number[] = [];
    class NotingClock extends FakeClock {
      override after(delayMs: number, run: () => void): Timer {
        delays.push(delayMs);
        return super.after(delayMs, run);
      }
    }
    const opened = openTestStore({ clock: new NotingClock() });
    const lock = foreignLock(opened.path);
    const write = opened.store.write("first", (tx) => putRun(tx));
    await untilBusy(opened);
    opened.clock.advance(900);
    expect(delays).toEqual([25, 50, 100, 200, 250, 250, 250]);
    lock.release();
    opened.clock.advance(250);
    await expect(write).resolves.toMatchObject({ position: 1 });
    expect(opened.clock.pending).toBe(0);
  });
});

describe("another writer between our reads and our writes", () => {
  test("is never felt, because every transaction begins with the lock", async () => {
    const { store, path } = openTestStore();
    const { runId } = await store.write("admit", (tx) => putRun(tx));
    const other = new Database(path, { timeout: 0 });
    onTestFinished(() => void other.close());
    const touch = other.prepare("UPDATE runs SET detail = ? WHERE run_id = ?");
    for (let turn = 1; turn <= 200; turn += 1) {
      touch.run(String(turn), runId);
      const seen = await store.write("count", (tx) => {
        const run = tx.runs.get(runId);
        tx.put.runChange(runId, { noProgress: (run?.noProgress ?? 0) + 1 });
        return run?.detail;
      });
      expect(seen).toBe(String(turn));
    }
    expect(store.reader.runs.get(runId)?.noProgress).toBe(200);
  });
});
