import { describe, expect, test } from "vitest";
import { ClaimLostError, HostError } from "../../src/host/errors.ts";
import type { ClaimLoss } from "../../src/host/errors.ts";
import type { ClaimProof } from "../../src/host/records.ts";
import { claimed } from "../../src/host/store/doors.ts";
import { newSecret, sha256Hex } from "../../src/platform/ids.ts";
import { claimRecord, putRun, putRunning, TOKEN_HASH } from "../support/records.ts";
import { openTestHost, TEST_CLAIM_MS } from "../support/test-store.ts";
import type { TestHost } from "../support/test-store.ts";

const RUN = "run_a";
const PROOF: ClaimProof = {
  runId: RUN,
  workerId: "wrk_one",
  generation: 1,
  tokenHash: TOKEN_HASH,
};

async function openWithClaim(): Promise<TestHost> {
  const opened = openTestHost();
  await opened.store.write("admit", (tx) => putRunning(tx, { runId: RUN }));
  return opened;
}

/** A write that can be seen when it happened. */
async function tryWrite({ host, store }: TestHost, proof: ClaimProof): Promise<unknown> {
  const before = store.reader.runs.get(RUN);
  const claimBefore = store.reader.claims.open(RUN);
  const written = claimed(host, "advance", { proof }, (tx) => {
    tx.put.runChange(RUN, { noProgress: 9 });
    return "written";
  });
  const outcome = await written.catch((error: unknown) => error);
  if (outcome === "written") return outcome;
  expect(store.reader.runs.get(RUN)).toStrictEqual(before);
  expect(store.reader.claims.open(RUN)).toStrictEqual(claimBefore);
  expect(outcome).toBeInstanceOf(ClaimLostError);
  expect(outcome).toMatchObject({ reason: "CLAIM_LOST", details: { runId: RUN } });
  return (outcome as ClaimLostError).loss;
}

describe("the claimed door", () => {
  test("lets the owner write and renews its claim in the same transaction", async () => {
    const opened = await openWithClaim();
    opened.leaseAdvance(TEST_CLAIM_MS - 1);
    expect(await tryWrite(opened, PROOF)).toBe("written");
    expect(opened.store.reader.claims.open(RUN)).toMatchObject({
      heartbeat: TEST_CLAIM_MS - 1,
      expiry: 2 * TEST_CLAIM_MS - 1,
    });
    opened.leaseAdvance(TEST_CLAIM_MS - 1);
    expect(await tryWrite(opened, PROOF)).toBe("written");
  });

  test("lets an expired claim neither write nor renew itself, though its token is right", async () => {
    const opened = await openWithClaim();
    opened.leaseAdvance(TEST_CLAIM_MS);
    expect(await tryWrite(opened, PROOF)).toBe("expired");
    const renewal = claimed(opened.host, "renew", { proof: PROOF }, () => undefined);
    await expect(renewal).rejects.toMatchObject({ loss: "expired" });
    expect(opened.store.reader.claims.open(RUN)?.expiry).toBe(TEST_CLAIM_MS);
  });

  const wrong: readonly (readonly [ClaimLoss, Partial<ClaimProof>])[] = [
    ["missing_authority", { runId: "run_none" }],
    ["owner_changed", { workerId: "wrk_two" }],
    ["token_changed", { tokenHash: sha256Hex("another token") }],
    ["generation_changed", { generation: 2 }],
    ["generation_changed", { generation: 0 }],
  ];

  test.each(wrong)("refuses with %s and changes nothing: %o", async (loss, change) => {
    const opened = await openWithClaim();
    const written = claimed(opened.host, "advance", { proof: { ...PROOF, ...change } }, (tx) =>
      tx.put.runChange(RUN, { noProgress: 9 }),
    );
    await expect(written).rejects.toMatchObject({ loss });
    expect(opened.store.reader.runs.get(RUN)?.noProgress).toBe(0);
    expect(opened.store.reader.claims.open(RUN)?.heartbeat).toBe(0);
  });

  test("refuses a released claim", async () => {
    const opened = await openWithClaim();
    await opened.store.write("park", (tx) => tx.put.claimChange(RUN, 1, { released: true }));
    expect(await tryWrite(opened, PROOF)).toBe("missing_authority");
  });

  test("refuses a claim of an earlier host", async () => {
    const opened = await openWithClaim();
    const late = { ...opened, host: opened.nextEpoch() };
    expect(await tryWrite(late, PROOF)).toBe("owner_changed");
  });

  test("refuses the owner of yesterday after a takeover, also by the same worker", async () => {
    const opened = await openWithClaim();
    await opened.store.write("take over", (tx) => {
      tx.put.claimChange(RUN, 1, { released: true });
      tx.put.claim(claimRecord(RUN, { generation: 2 }));
    });
    expect(await tryWrite(opened, PROOF)).toBe("generation_changed");
    expect(await tryWrite(opened, { ...PROOF, generation: 2 })).toBe("written");
  });
});

describe("a numbered proposal", () => {
  const propose = (
    { host }: TestHost,
    number: number,
    proof: ClaimProof = PROOF,
  ): Promise<{ readonly boundary: number }> =>
    claimed(host, "advance", { proof, number }, (tx, run) => {
      tx.put.runChange(RUN, { boundary: run.boundary + 1 });
      return { boundary: run.boundary + 1 };
    });

  test("that is repeated gets its stored answer and happens once", async () => {
    const opened = await openWithClaim();
    expect(await propose(opened, 1)).toEqual({ boundary: 1 });
    expect(await propose(opened, 1)).toEqual({ boundary: 1 });
    expect(await propose(opened, 2)).toEqual({ boundary: 2 });
    expect(await propose(opened, 2)).toEqual({ boundary: 2 });
    expect(opened.store.reader.runs.get(RUN)?.boundary).toBe(2);
  });

  test("is answered again after its claim was released, before the fence", async () => {
    const opened = await openWithClaim();
    await claimed(opened.host, "wait", { proof: PROOF, number: 1 }, (tx) => {
      tx.put.claimChange(RUN, 1, { released: true });
      return { parked: true };
    });
    expect(await claimed(opened.host, "wait", { proof: PROOF, number: 1 }, () => "again")).toEqual({
      parked: true,
    });
    await expect(propose(opened, 2)).rejects.toMatchObject({ loss: "missing_authority" });
  });

  test("is answered again also when its claim has expired or was taken over", async () => {
    const opened = await openWithClaim();
    await propose(opened, 1);
    opened.leaseAdvance(TEST_CLAIM_MS);
    await opened.store.write("take over", (tx) => {
      tx.put.claimChange(RUN, 1, { released: true });
      tx.put.claim(claimRecord(RUN, { generation: 2, workerId: "wrk_two" }));
    });
    expect(await propose(opened, 1)).toEqual({ boundary: 1 });
    await expect(propose(opened, 2)).rejects.toMatchObject({ loss: "owner_changed" });
    expect(opened.store.reader.runs.get(RUN)?.boundary).toBe(1);
  });

  test("is told to nobody but the worker that made it", async () => {
    const opened = await openWithClaim();
    await propose(opened, 1);
    const thief = { ...PROOF, tokenHash: sha256Hex("a guess") };
    await expect(propose(opened, 1, thief)).rejects.toMatchObject({ loss: "token_changed" });
    const other = { ...PROOF, workerId: "wrk_two" };
    await expect(propose(opened, 1, other)).rejects.toMatchObject({ loss: "owner_changed" });
  });

  test("older than the last one is refused", async () => {
    const opened = await openWithClaim();
    await propose(opened, 1);
    await propose(opened, 2);
    await expect(propose(opened, 1)).rejects.toMatchObject({ reason: "REQUEST_INVALID" });
  });

  test("that was refused leaves its number free and its claim as it was", async () => {
    const opened = await openWithClaim();
    const refused = claimed(opened.host, "advance", { proof: PROOF, number: 1 }, () => {
      throw new HostError("ILLEGAL_TRANSITION", "no such edge");
    });
    await expect(refused).rejects.toMatchObject({ reason: "ILLEGAL_TRANSITION" });
    expect(opened.store.reader.claims.open(RUN)?.lastNumber).toBe(0);
    expect(await propose(opened, 1)).toEqual({ boundary: 1 });
  });

  test("without an answer is still recognised", async () => {
    const opened = await openWithClaim();
    let times = 0;
    const write = (): Promise<unknown> =>
      claimed(opened.host, "note", { proof: PROOF, number: 1 }, () => {
        times += 1;
      });
    await write();
    await write();
    expect(times).toBe(1);
  });
});

describe("a claim's row", () => {
  test("has no place for the token itself", async () => {
    const { store } = openTestHost();
    const { runId } = await store.write("admit", (tx) => putRun(tx));
    const secret = newSecret();
    const written = store.write("launch", (tx) =>
      tx.put.claim(claimRecord(runId, { tokenHash: secret })),
    );
    await expect(written).rejects.toThrow("CHECK constraint failed: length(token_hash) = 64");
    await store.write("launch", (tx) =>
      tx.put.claim(claimRecord(runId, { tokenHash: sha256Hex(secret) })),
    );
    expect(store.reader.claims.open(runId)).toBeDefined();
  });
});
