/** Workflow files that do not load, and workers that do not load them. */
import { describe, expect, test } from "vitest";
import { SpawnFailed } from "../../src/host/supervisor/supervised-worker.ts";
import type { ExitCause, SupervisedWorker } from "../../src/host/supervisor/supervised-worker.ts";
import { ResolverRig, START, WANT, resolved, turn } from "../support/resolver-rig.ts";
import { exiting } from "../support/worker-frames.ts";

describe("a file that does not come to an end", () => {
  test("is refused after fifteen seconds, and its worker is killed", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    const worker = await rig.asked(0);
    rig.clock.advance(14_999);
    expect(worker.signals).toEqual([]);
    rig.clock.advance(1);
    await expect(resolving).rejects.toMatchObject({
      reason: "WORKFLOW_INVALID",
      message: expect.stringContaining("longer than 15 s") as unknown,
    });
    expect(worker.signals[0]).toBe("kill");
  });

  test("because it ends its process is refused with the process's last words", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    const worker = await rig.asked(0);
    worker.says(exiting({ name: "ProcessExit", message: "the file called process.exit(2)" }));
    worker.dies({ cause: "exit", code: 2 });
    await expect(resolving).rejects.toMatchObject({
      reason: "WORKFLOW_INVALID",
      message: "the file called process.exit(2)",
    });
  });

  test("because its process dies is refused with the end of its output", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    for (const index of [0, 1]) {
      const worker = await rig.asked(index);
      worker.output = "Segmentation fault";
      worker.dies({ cause: "signal", signal: "SIGSEGV" });
    }
    await expect(resolving).rejects.toMatchObject({
      reason: "WORKFLOW_INVALID",
      message: expect.stringMatching(/SIGSEGV[\s\S]*Segmentation fault/) as unknown,
    });
    expect(rig.workers).toHaveLength(2);
  });

  test("because somebody killed its process is loaded by the next", async () => {
    const { next, given } = await loadAgain(new ResolverRig(), "signal");
    expect(given).toBe(next);
  });

  test("because a worker was killed before it had begun is loaded by the next", async () => {
    const rig = new ResolverRig();
    rig.prepared.push(new SpawnFailed("signal", "ended by SIGKILL"));
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).says(resolved());
    await resolving;
    rig.prepared.push(
      new SpawnFailed("signal", "SIGKILL 1"),
      new SpawnFailed("signal", "SIGKILL 2"),
    );
    await expect(rig.resolver.resolve(START)).rejects.toThrow("SIGKILL 2");
  });

  test("because its worker lost its stream is loaded by the next", async () => {
    const rig = new ResolverRig();
    rig.prepared.push(new SpawnFailed("disconnected", "its stream ended"));
    const { next, given } = await loadAgain(rig, "disconnected");
    expect(given).toBe(next);
  });

  test("because its worker did not say hello is loaded by the next", async () => {
    const rig = new ResolverRig();
    rig.prepared.push(new SpawnFailed("handshake", "did not say hello within 15 s"));
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).says(resolved());
    expect((await resolving).worker).toBe(rig.workers[0]);
  });

  test("is told what is wrong with the workers, when it is not the file", async () => {
    const rig = new ResolverRig();
    rig.prepared.push(new SpawnFailed("exit", "a worker could not be started: no module"));
    await expect(rig.resolver.resolve(START)).rejects.toMatchObject({
      reason: "WORKER_FAILED",
      message: "a worker could not be started: no module",
    });
    rig.prepared.push(new SpawnFailed("version", "it is version 2; run: …"));
    await expect(rig.resolver.resolve(START)).rejects.toMatchObject({
      reason: "VERSION_SKEW",
      message: "it is version 2; run: …",
    });
  });

  test.each([
    ["broke the protocol", "protocol", "WORKER_FAILED"],
    ["was stopped with the host", "stopped", "HOST_STOPPING"],
  ] as const)("is not blamed when its worker %s", async (_what, cause, reason) => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    (await rig.asked(0)).dies({ cause, signal: "SIGKILL" });
    await expect(resolving).rejects.toMatchObject({ reason });
  });

  test("is not blamed when a second worker loses its stream, too", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.inspect(WANT);
    for (const index of [0, 1])
      (await rig.asked(index)).dies({ cause: "disconnected", signal: "SIGKILL" });
    await expect(resolving).rejects.toMatchObject({ reason: "WORKER_FAILED" });
  });

  test("is not blamed for an answer that no worker gives", async () => {
    const rig = new ResolverRig();
    const resolving = rig.resolver.resolve(START);
    const worker = await rig.asked(0);
    worker.says(resolved({ inputJson: Uint8Array.of(0xff) }));
    await expect(resolving).rejects.toMatchObject({
      reason: "WORKER_FAILED",
      message: expect.stringContaining("malformed") as unknown,
    });
    expect(worker.signals[0]).toBe("kill");
  });
});

/** The worker that is asked ends for this cause; which worker loads then, and which one the start got. */
async function loadAgain(
  rig: ResolverRig,
  cause: ExitCause,
): Promise<{ readonly next: SupervisedWorker; readonly given: SupervisedWorker }> {
  const resolving = rig.resolver.resolve(START);
  (await rig.asked(0)).dies({ cause, signal: "SIGKILL" });
  await turn();
  const next = await rig.asked(1);
  next.says(resolved());
  return { next, given: (await resolving).worker };
}
