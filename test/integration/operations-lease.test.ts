import { describe, expect, test } from "vitest";
import { advance } from "../../src/host/operations/attempts.ts";
import { expiredClaims, launchRun, renewClaim } from "../../src/host/operations/claims.ts";
import { beginEffect } from "../../src/host/operations/effects.ts";
import { writeProgress } from "../../src/host/operations/progress.ts";
import { cancelRun, pauseRun, resumeRun } from "../../src/host/operations/runs.ts";
import type { ClaimProof } from "../../src/host/records.ts";
import { newId, sha256Hex } from "../../src/platform/ids.ts";
import { lossOf, reasonOf, refusal } from "../support/refusal.ts";
import { TestRig } from "../support/test-host.ts";
import { COMPLETE, next, OK } from "../support/test-worker.ts";
import type { TestWorker } from "../support/test-worker.ts";

const CLAIM_MS = 30_000;

function claimOf(rig: TestRig, { runId, proof }: TestWorker) {
  return rig.reader.claims.get(runId, proof.generation);
}

// A worker whose code never yields cannot renew by a timer. Its transitions must do.
describe("a worker that only makes transitions", () => {
  test("keeps its claim for longer than a lease without one timer firing", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    for (let step = 1; step < 15; step += 1) {
      rig.at.leaseAdvance(CLAIM_MS / 2);
      await worker.advance(OK, next("hub"));
    }
    expect(rig.at.clock.pending).toBe(0);
    expect(rig.host.leaseNow()).toBe(7 * CLAIM_MS);
    expect(claimOf(rig, worker)).toMatchObject({
      heartbeat: 7 * CLAIM_MS,
      expiry: 8 * CLAIM_MS,
    });
    expect(expiredClaims(rig.host)).toEqual([]);
  });

  test.each<[string, (rig: TestRig, worker: TestWorker) => Promise<unknown>]>([
    ["a renewal", (rig, { proof }) => renewClaim(rig.host, proof)],
    ["an advance", (_rig, worker) => worker.advance(OK, next("end"))],
    ["an effect's beginning", (_rig, worker) => worker.act({ policy: "manual", type: "x" })],
  ])("renews by %s in the same transaction", async (_name, write) => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    rig.at.leaseAdvance(20_000);
    await write(rig, worker);
    expect(claimOf(rig, worker)).toMatchObject({ heartbeat: 20_000, expiry: 50_000 });
  });

  test("does not renew by a proposal that is refused, nor by progress", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    rig.at.leaseAdvance(20_000);
    await refusal(worker.advance(OK, next("nowhere")));
    const { runId, generation } = worker.proof;
    await rig.sound(
      writeProgress(rig.host, { runId, generation, node: "hub", text: "still at it" }),
    );
    expect(claimOf(rig, worker)).toMatchObject({ heartbeat: 0, expiry: CLAIM_MS });
  });

  test("changes neither revision nor boundary by a renewal", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const before = worker.run;
    await rig.sound(renewClaim(rig.host, worker.proof));
    expect(worker.run).toEqual(before);
  });
});

describe("an expired claim", () => {
  async function expired(): Promise<{ rig: TestRig; worker: TestWorker }> {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    rig.at.leaseAdvance(CLAIM_MS);
    return { rig, worker };
  }

  test("cannot renew itself, even with its own token", async () => {
    const { rig, worker } = await expired();
    const before = worker.run;
    expect(await lossOf(renewClaim(rig.host, worker.proof))).toBe("expired");
    expect(await lossOf(worker.advance(OK, next("end")))).toBe("expired");
    expect(worker.run).toEqual(before);
  });

  test("is listed, until somebody takes the run over", async () => {
    const { rig, worker } = await expired();
    expect(expiredClaims(rig.host).map((claim) => claim.runId)).toEqual([worker.runId]);
    await rig.lose(worker, { counted: false });
    expect(expiredClaims(rig.host)).toEqual([]);
    expect(worker.run).toMatchObject({ status: "queued", noProgress: 0 });
  });

  test("gives way to a new generation, which fences the old one", async () => {
    const { rig, worker } = await expired();
    await rig.lose(worker);
    const successor = await rig.relaunch(worker.runId);
    expect(successor.proof.generation).toBeGreaterThan(worker.proof.generation);
    expect(await lossOf(worker.advance(OK, next("end")))).toBe("owner_changed");
    await successor.advance(OK, next("end"));
    await successor.advance(OK, COMPLETE);
    expect(worker.run.status).toBe("completed");
  });

  test("can still be told a verdict by the host, which owns the process", async () => {
    const { worker } = await expired();
    expect(await worker.judge("timed_out")).toEqual({ outcome: "routed" });
    expect(worker.run).toMatchObject({ status: "queued", routing: true });
  });

  test("does not keep its run from being paused, resumed and cancelled", async () => {
    const { rig, worker } = await expired();
    const { runId } = worker;
    await rig.sound(pauseRun(rig.host, rig.asked("PauseRun"), { runId, now: false }));
    await rig.sound(
      resumeRun(rig.host, rig.asked("ResumeRun"), { runId, sourcePolicy: "unchanged" }),
    );
    const successor = await rig.relaunch(runId);
    rig.at.leaseAdvance(CLAIM_MS);
    await rig.sound(cancelRun(rig.host, rig.asked("CancelRun"), { runId, note: "" }));
    expect(successor.run.status).toBe("cancelled");
  });
});

describe("the fence", () => {
  type Change = (worker: TestWorker, rig: TestRig) => ClaimProof | Promise<ClaimProof>;
  const cancelled: Change = async ({ proof, runId }, rig) => {
    await rig.sound(cancelRun(rig.host, rig.asked("CancelRun"), { runId, note: "" }));
    return proof;
  };
  test.each<[string, Change]>([
    ["missing_authority", cancelled],
    ["missing_authority", ({ proof }) => ({ ...proof, runId: "run_unknown" })],
    [
      "expired",
      ({ proof }, rig) => {
        rig.at.leaseAdvance(CLAIM_MS);
        return proof;
      },
    ],
    ["owner_changed", ({ proof }) => ({ ...proof, workerId: "wrk_other" })],
    ["token_changed", ({ proof }) => ({ ...proof, tokenHash: sha256Hex("other") })],
    ["generation_changed", ({ proof }) => ({ ...proof, generation: proof.generation + 1 })],
  ])("says %s and changes nothing", async (loss, change) => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    const proof = await change(worker, rig);
    const before = { run: worker.run, claim: claimOf(rig, worker) };
    const proposal = { ...worker.place, result: OK, follow: next("end") };
    expect(await lossOf(advance(rig.host, proof, 9, proposal))).toBe(loss);
    expect({ run: worker.run, claim: claimOf(rig, worker) }).toEqual(before);
  });

  test("leaves no failed event, no failed attempt and no token in any row", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await rig.lose(worker);
    await rig.relaunch(worker.runId);
    const error = await refusal(worker.advance(OK, next("end")));
    expect(error.message).not.toContain(worker.proof.tokenHash);
    expect(rig.events(worker.runId)).toEqual([
      "admit",
      "launch",
      "attach",
      "interrupt",
      "launch",
      "attach",
    ]);
    const attempts = rig.reader.attempts.lastOfRun(worker.runId, 10);
    expect(attempts.map((attempt) => attempt.status)).toEqual(["interrupted", "running"]);
  });

  test("holds for an effect as for every other write", async () => {
    const rig = new TestRig();
    const worker = await rig.running("mail");
    rig.at.leaseAdvance(CLAIM_MS);
    const request = { ...worker.place, key: "k", fingerprint: "f", type: "t" } as const;
    const asked = { ...request, policy: "manual" as const, observable: false };
    expect(await lossOf(beginEffect(rig.host, worker.proof, 9, asked))).toBe("expired");
    expect(rig.reader.effects.ofRun(worker.runId)).toEqual([]);
  });

  test("refuses a worker of an earlier host", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    expect(await lossOf(renewClaim(rig.at.nextEpoch(), worker.proof))).toBe("owner_changed");
  });
});

describe("a launch", () => {
  const process = { pid: 1, startTime: "1", bootId: "boot" };
  const launch = (rig: TestRig, runId: string) =>
    launchRun(rig.host, {
      runId,
      worker: { ...process, workerId: newId("wrk") },
      tokenHash: sha256Hex("secret"),
    });

  test("is refused while a live claim exists", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    expect(await lossOf(launch(rig, worker.runId))).toBe("owner_changed");
  });

  test("is refused while the earlier worker's tree is not confirmed gone", async () => {
    const rig = new TestRig();
    const worker = await rig.running("hub");
    await rig.lose(worker);
    const error = await refusal(launch(rig, worker.runId));
    expect(error.reason).toBe("ILLEGAL_TRANSITION");
    expect(error.message).toContain(worker.proof.workerId);
    await rig.exit(worker.proof.workerId);
    await rig.sound(launch(rig, worker.runId));
    expect(worker.run.status).toBe("starting");
  });

  test("is refused for a run that is not queued", async () => {
    const rig = new TestRig();
    const worker = await rig.running("ask");
    await worker.ask();
    expect(await reasonOf(launch(rig, worker.runId))).toBe("ILLEGAL_TRANSITION");
  });
});
