import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { describe, expect, test, vi } from "vitest";
import { StopReason } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import { HANDSHAKE_DEADLINE_MS } from "../../src/host/limits.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { cpuMsOf, groupOf, identityOf, isAlive } from "../../src/platform/process-identity.ts";
import { channel, frame } from "../support/frames.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { endOf, inState, PATIENCE_MS, rigFor } from "../support/supervised.ts";
import { act, WANT } from "../support/supervisor-rig.ts";

describe("a worker that is asked for", () => {
  test("is handed over once it has said hello, in a group of its own", async () => {
    const rig = await rigFor({ child: "obedient" });
    const worker = await rig.supervisor.acquire(WANT);
    expect(worker.state).toBe("busy");
    expect(worker.id).toMatch(/^wrk_[0-9a-z]{26}$/);
    expect(groupOf(worker.pid)).toBe(worker.pid);
    expect(identityOf(worker.pid)?.startTime).toBe(worker.startTime);
    expect(rig.supervisor.live()).toEqual([worker]);
  });

  test("shows its secret on the stream and nowhere else", async () => {
    const rig = await rigFor({ child: "obedient" });
    const worker = await rig.supervisor.acquire(WANT);
    const secret = rig.shown[0] ?? "";
    expect(secret).toHaveLength(43);
    expect(sha256Hex(secret)).toBe(worker.secretHash);
    expect(rig.supervisor.authenticate(secret)).toBe(worker);
    expect(rig.supervisor.authenticate(`${secret}x`)).toBeUndefined();
    expect(rig.supervisor.authenticate(undefined)).toBeUndefined();
    const environment = readFileSync(`/proc/${worker.pid}/environ`, "utf8");
    expect(readFileSync(`/proc/${worker.pid}/cmdline`, "utf8")).not.toContain(secret);
    expect(environment).not.toContain(secret);
    expect(environment).toContain(`PI_WORKFLOWS_TAG=rig.1.${worker.id}`);
  });

  test("gives way to the host, and further when its loop is blocked", async () => {
    const rig = await rigFor({ child: "obedient" });
    const worker = await rig.supervisor.acquire(WANT);
    expect(nicenessOf(worker.pid)).toBe(10);
    worker.deprioritise();
    expect(nicenessOf(worker.pid)).toBe(19);
  });

  test("has memory limits that a command it starts may lift", async () => {
    const rig = await rigFor({ child: "obedient", settings: { workerMemoryMb: 1_024 } });
    const worker = await rig.supervisor.acquire(WANT);
    const limits = readFileSync(`/proc/${worker.pid}/limits`, "utf8");
    expect(limits).toMatch(/Max data size\s+1073741824\s+unlimited/);
    expect(readFileSync(`/proc/${worker.pid}/cmdline`, "utf8")).toContain(
      "--max-old-space-size=640",
    );
  });

  test("is not known by its secret once it has ended", async () => {
    const rig = await rigFor({ child: "obedient" });
    const worker = await rig.supervisor.acquire(WANT);
    worker.kill();
    await endOf(worker);
    expect(rig.supervisor.authenticate(rig.shown[0])).toBeUndefined();
    expect(rig.supervisor.live()).toEqual([]);
  });

  test("is refused when it is of another version than the host", async () => {
    const rig = await rigFor({ child: "other-version" });
    await expect(rig.supervisor.acquire(WANT)).rejects.toMatchObject({
      name: "SpawnFailed",
      cause: "version",
      message: expect.stringContaining("host restart") as string,
    });
  });

  test("that dies at start is reported with what it said", async () => {
    const rig = await rigFor({ child: "dies-at-start" });
    await expect(rig.supervisor.acquire(WANT)).rejects.toMatchObject({
      cause: "exit",
      message: expect.stringMatching(
        /exited with code 7; it printed: cannot find module/,
      ) as string,
    });
  });

  test("whose program does not exist is reported, and the next is tried anew", async () => {
    const rig = await rigFor({ child: "does-not-exist" });
    await expect(rig.supervisor.acquire(WANT)).rejects.toThrow("does-not-exist");
    await expect(rig.supervisor.acquire(WANT)).rejects.toThrow("does-not-exist");
  });

  test("that says nothing for 15 s is ended and reported", async () => {
    const clock = new FakeClock();
    const rig = await rigFor({ child: "silent", clock });
    const asked = rig.supervisor.acquire(WANT).catch((error: unknown) => error);
    await vi.waitFor(() => expect(rig.shown).toHaveLength(1), PATIENCE_MS);
    const [worker] = rig.supervisor.live();
    clock.advance(HANDSHAKE_DEADLINE_MS - 1);
    expect(worker?.exit).toBeUndefined();
    clock.advance(1);
    expect(await asked).toMatchObject({
      cause: "handshake",
      message: expect.stringContaining("within 15 s") as string,
    });
  });

  test("does not start while as many as there are cores are starting", async () => {
    const rig = await rigFor({ child: "silent" });
    const cores = availableParallelism();
    const asked = Array.from({ length: cores + 3 }, () => rig.supervisor.acquire(WANT));
    const outcomes = Promise.allSettled(asked);
    await vi.waitFor(() => expect(rig.shown).toHaveLength(cores), PATIENCE_MS);
    expect(rig.supervisor.live()).toHaveLength(cores);
    rig.supervisor.live()[0]?.kill();
    await vi.waitFor(() => expect(rig.shown).toHaveLength(cores + 1), PATIENCE_MS);
    expect(rig.supervisor.live()).toHaveLength(cores);
    await rig.supervisor.stop(0);
    expect((await outcomes).every((outcome) => outcome.status === "rejected")).toBe(true);
  });

  test("is refused once the host is stopping", async () => {
    const rig = await rigFor({ child: "obedient" });
    await rig.supervisor.stop(0);
    await expect(rig.supervisor.acquire(WANT)).rejects.toMatchObject({ cause: "stopping" });
  });
});

describe("a worker's stream", () => {
  test("that breaks the protocol ends that worker alone", async () => {
    const rig = await rigFor({ child: "obedient" });
    const [worker, neighbour] = await Promise.all([
      rig.supervisor.acquire(WANT),
      rig.supervisor.acquire(WANT),
    ]);

    rig.supervisor.receive(worker, frame({ number: 9n, epoch: worker.epoch }));
    expect((await endOf(worker)).cause).toBe("protocol");
    const second = channel();
    rig.supervisor.connect(neighbour, second);
    expect(second.closed).toBe(true);
    expect(neighbour.exit).toBeUndefined();
  });

  test("that ends takes a spare with it at once", async () => {
    const rig = await rigFor({ child: "obedient", settings: { spares: 1 } });
    await inState(rig, "spare", 1);
    const [spare] = rig.supervisor.live();
    if (spare !== undefined) rig.supervisor.disconnected(spare);
    await vi.waitFor(() => expect(spare?.exit?.cause).toBe("disconnected"), PATIENCE_MS);
  });

  test("that ends while it is busy leaves it 2 s to end by itself", async () => {
    const clock = new FakeClock();
    const rig = await rigFor({ child: "obedient", clock });
    const worker = await rig.supervisor.acquire(WANT);
    rig.supervisor.disconnected(worker);
    clock.advance(1_999);
    expect(cpuMsOf(worker.pid)).toBeGreaterThan(0);
    clock.advance(1);
    expect((await endOf(worker)).cause).toBe("disconnected");
  });

  test("keeps frames in order until somebody listens", async () => {
    const rig = await rigFor({ child: "blocks" });
    const worker = await rig.supervisor.acquire(WANT);
    const before = worker.lastFrameAt();
    act(worker);
    await vi.waitFor(() => expect(worker.lastFrameAt()).toBeGreaterThan(before));
    const texts: string[] = [];
    worker.onFrame(({ body }) => texts.push(body.case === "progress" ? body.value.text : ""));
    expect(texts).toEqual(["blocking"]);
  });
});

test("stop ends workers and spares, and says so when they are gone", async () => {
  const rig = await rigFor({ child: "obedient", settings: { spares: 1 } });
  const worker = await rig.supervisor.acquire(WANT);
  const identities = rig.supervisor.live().map(({ pid }) => identityOf(pid));
  await rig.supervisor.stop(2_000);
  expect(identities.some((identity) => identity !== undefined && isAlive(identity))).toBe(false);
  expect(worker.exit).toMatchObject({ cause: "stopped", code: 0 });
  expect(worker.exit?.reason).toContain("host is stopping");
  worker.stop(StopReason.CANCEL, 0);
});

function nicenessOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}
