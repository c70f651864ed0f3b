import { describe, expect, test } from "vitest";
import { ClaimLostError, HostError } from "../../src/host/errors.ts";
import { claimed, command, control, system, takeEpoch } from "../../src/host/store/doors.ts";
import type { CommandRequest } from "../../src/host/store/doors.ts";
import { claimRecord, putRun, putRunning } from "../support/records.ts";
import { openTestHost, TEST_CLAIM_MS } from "../support/test-store.ts";

function request(change: Partial<CommandRequest> & { readonly key?: string } = {}): CommandRequest {
  const { key = "key 1", ...rest } = change;
  return {
    command: { requestId: "req_1", key, client: "a test" },
    method: "StartRun",
    fingerprint: "content 1",
    ...rest,
  };
}

describe("the command door", () => {
  test("answers with the receipt of what was committed", async () => {
    const { host, store, clock } = openTestHost();
    const result = await command(host, request(), (tx) => ({
      runId: putRun(tx, { runId: "run_a" }).runId,
      extra: { place: 1 },
    }));
    expect(result).toEqual({
      outcome: "committed",
      runId: "run_a",
      revision: 1,
      committedAt: clock.now(),
      extra: { place: 1 },
    });
    expect(store.reader.commands.get("key 1")).toMatchObject({ runId: "run_a", revision: 1 });
  });

  test("answers a repeat with the stored receipt and does nothing again", async () => {
    const { host, store, clock } = openTestHost();
    const first = await command(host, request(), (tx) => ({ runId: putRun(tx).runId, extra: [1] }));
    clock.advance(60_000);
    await store.write("move on", (tx) => tx.put.runChange(first.runId ?? "", { revision: 5 }));
    const second = await command(host, request(), () => {
      throw new Error("a repeat must not run");
    });
    expect(second).toEqual({ ...first, outcome: "adopted" });
    expect(store.reader.runs.lastPosition()).toBe(1);
  });

  test("lets one of twenty equal commands happen and gives all of them its answer", async () => {
    const { host, store } = openTestHost();
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        command(host, request(), (tx) => ({ runId: putRun(tx).runId })),
      ),
    );
    expect(results.map((one) => one.outcome).filter((one) => one === "committed")).toHaveLength(1);
    expect(new Set(results.map((one) => one.runId)).size).toBe(1);
    expect(store.reader.runs.lastPosition()).toBe(1);
  });

  test.each([{ fingerprint: "content 2" }, { method: "CancelRun" }])(
    "refuses a key that belongs to another command: %o",
    async (change) => {
      const { host, store } = openTestHost();
      await command(host, request(), (tx) => ({ runId: putRun(tx, { runId: "run_a" }).runId }));
      const other = command(host, request(change), (tx) => ({ runId: putRun(tx).runId }));
      await expect(other).rejects.toMatchObject({
        reason: "IDEMPOTENCY_CONFLICT",
        details: { runId: "run_a" },
      });
      expect(store.reader.runs.lastPosition()).toBe(1);
    },
  );

  test("stores no refusal, so the same key may succeed later", async () => {
    const { host, store } = openTestHost();
    const refused = command(host, request(), (tx) => {
      putRun(tx);
      throw new HostError("INPUT_INVALID", "no");
    });
    await expect(refused).rejects.toMatchObject({ reason: "INPUT_INVALID" });
    expect(store.reader.commands.get("key 1")).toBeUndefined();
    const result = await command(host, request(), (tx) => ({ runId: putRun(tx).runId }));
    expect(result.outcome).toBe("committed");
  });

  test("finds its run and checks the expected revision", async () => {
    const { host, store } = openTestHost();
    const { runId } = await store.write("admit", (tx) => putRun(tx, { revision: 3 }));
    const asked = (expectedRevision: number): CommandRequest => ({
      ...request({ runId }),
      command: { requestId: "r", key: "k", client: "c", expectedRevision },
    });
    await expect(command(host, asked(2), () => ({}))).rejects.toMatchObject({
      reason: "STALE_REVISION",
      details: { runId, revision: 3 },
    });
    const result = await command(host, asked(3), (_tx, run) => ({ extra: run?.runId }));
    expect(result).toMatchObject({ runId, revision: 3, extra: runId });
  });

  test("refuses a run that does not exist", async () => {
    const { host } = openTestHost();
    const result = command(host, request({ runId: "run_none" }), () => ({}));
    await expect(result).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  });

  test("keeps the receipt of a command without a run", async () => {
    const { host } = openTestHost();
    const result = await command(host, request({ method: "Prune" }), () => ({}));
    expect(result).toEqual({ outcome: "committed", revision: 0, committedAt: host.clock.now() });
  });
});

describe("the control door", () => {
  test("takes a new generation of a run without a claim before the body runs", async () => {
    const { host, store } = openTestHost();
    const { runId } = await store.write("admit", (tx) => putRun(tx, { generation: 4 }));
    const seen = await control(host, "settle", runId, (tx, run) => [
      run.generation,
      tx.runs.get(runId)?.generation,
    ]);
    expect(seen).toEqual([5, 5]);
  });

  test("never takes a live claim", async () => {
    const { host, store, leaseAdvance } = openTestHost();
    const { run } = await store.write("admit", (tx) => putRunning(tx));
    leaseAdvance(TEST_CLAIM_MS - 1);
    const taken = control(host, "interrupt", run.runId, () => "taken");
    await expect(taken).rejects.toThrow(ClaimLostError);
    await expect(taken).rejects.toMatchObject({ loss: "owner_changed" });
    expect(store.reader.runs.get(run.runId)).toStrictEqual(run);
    expect(store.reader.claims.open(run.runId)).toBeDefined();
  });

  test("closes a claim that has expired", async () => {
    const { host, store, leaseAdvance } = openTestHost();
    const { run } = await store.write("admit", (tx) => putRunning(tx));
    leaseAdvance(TEST_CLAIM_MS);
    await control(host, "interrupt", run.runId, () => undefined);
    expect(store.reader.claims.open(run.runId)).toBeUndefined();
    expect(store.reader.claims.get(run.runId, 1)?.released).toBe(true);
    expect(store.reader.runs.get(run.runId)?.generation).toBe(2);
  });

  test("closes a claim of an earlier host, however long it still lasts", async () => {
    const { nextEpoch, store } = openTestHost();
    const { run } = await store.write("admit", (tx) => putRunning(tx));
    await control(nextEpoch(), "recover", run.runId, (tx) =>
      tx.put.claim(claimRecord(run.runId, { generation: 2, epoch: 2 })),
    );
    expect(store.reader.claims.open(run.runId)).toMatchObject({ generation: 2, epoch: 2 });
  });

  test("leaves everything as it was when its body refuses", async () => {
    const { host, store, leaseAdvance } = openTestHost();
    const { run } = await store.write("admit", (tx) => putRunning(tx));
    leaseAdvance(TEST_CLAIM_MS);
    const refused = control(host, "interrupt", run.runId, () => {
      throw new HostError("ILLEGAL_TRANSITION", "no");
    });
    await expect(refused).rejects.toMatchObject({ reason: "ILLEGAL_TRANSITION" });
    expect(store.reader.runs.get(run.runId)?.generation).toBe(1);
    expect(store.reader.claims.open(run.runId)?.generation).toBe(1);
  });

  test("refuses a run that does not exist", async () => {
    const { host } = openTestHost();
    const result = control(host, "settle", "run_none", () => undefined);
    await expect(result).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  });
});

describe("the system door", () => {
  test("writes rows that belong to no run", async () => {
    const { host, store } = openTestHost();
    const epoch = { epoch: 1, pid: 1, startTime: "1", bootId: "b", version: "0", startedAt: 1 };
    expect(await system(host, "epoch", (tx) => [tx.put.epoch(epoch), 7][1])).toBe(7);
    expect(store.reader.epochs.last()).toEqual(epoch);
  });
});

describe("a host that another one has succeeded", () => {
  const self = { pid: 1, startTime: "1", bootId: "b", version: "0", startedAt: 1 };

  test("writes through no door any more", async () => {
    const { host, store } = openTestHost();
    expect(await takeEpoch(store, self)).toBe(1);
    const { run, claim } = await store.write("admit", (tx) => putRunning(tx));
    await expect(system(host, "note", () => "written")).resolves.toBe("written");
    expect(await takeEpoch(store, self)).toBe(2);
    const writes = [
      command(host, request(), () => ({})),
      claimed(host, "renew", { proof: claim }, () => undefined),
      control(host, "settle", run.runId, () => undefined),
      system(host, "note", () => undefined),
    ];
    for (const write of writes)
      await expect(write).rejects.toMatchObject({ reason: "HOST_STOPPING" });
    expect(store.reader.commands.get("key 1")).toBeUndefined();
    expect(store.reader.runs.get(run.runId)).toStrictEqual(run);
  });

  test("is succeeded by a greater epoch each time", async () => {
    const { store } = openTestHost();
    const epochs = await Promise.all([takeEpoch(store, self), takeEpoch(store, self)]);
    expect(epochs).toEqual([1, 2]);
    expect(store.reader.epochs.last()).toEqual({ ...self, epoch: 2 });
  });
});
