import { describe, expect, test, vi } from "vitest";
import { RESOLVE_DEADLINE_MS } from "../../src/host/limits.ts";
import { REFILL_DELAY_MS } from "../../src/host/supervisor/warm-pool.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { endOf, inState, PATIENCE_MS, rigFor, spareAfterAWhile } from "../support/supervised.ts";
import { act, WANT } from "../support/supervisor-rig.ts";

const OTHER = { workflowPath: "/project/b.workflow.ts", projectDir: "/project" };

describe("spares", () => {
  test("are ready before anybody asks, and replaced when they are taken", async () => {
    const rig = await rigFor({ child: "obedient", settings: { spares: 2 } });
    await inState(rig, "spare", 2);
    const [first] = rig.supervisor.live();
    const worker = await rig.supervisor.acquire(WANT);
    expect(worker).toBe(first);
    await inState(rig, "spare", 2);
    expect(rig.supervisor.live()).toHaveLength(3);
  });

  test("take no time from whoever was just handed a worker", async () => {
    const clock = new FakeClock();
    const rig = await rigFor({ child: "obedient", clock, settings: { spares: 1 } });
    const spare = await spareAfterAWhile(rig, clock);
    expect(await rig.supervisor.acquire(WANT)).toBe(spare);
    clock.advance(REFILL_DELAY_MS - 1);
    expect(rig.supervisor.live()).toEqual([spare]);
    clock.advance(1);
    await inState(rig, "spare", 1);
  });

  test("are not started while the capacity is exhausted", async () => {
    const rig = await rigFor({ child: "obedient", settings: { spares: 1, capacity: 1 } });
    const worker = await rig.supervisor.acquire(WANT);
    expect(rig.supervisor.live()).toEqual([worker]);
    act(worker, "0");
    await endOf(worker);
    await inState(rig, "spare", 1);
  });

  test("that die are replaced after a pause, not at once", async () => {
    const clock = new FakeClock();
    const rig = await rigFor({ child: "obedient", clock, settings: { spares: 1 } });
    const spare = await spareAfterAWhile(rig, clock);
    spare.kill();
    await vi.waitFor(() => expect(rig.logged.map(({ event }) => event)).toContain("spare.lost"));
    expect(rig.supervisor.live()).toEqual([]);
    clock.advance(1_000);
    await inState(rig, "spare", 1);
  });

  test("that waited too long are replaced", async () => {
    const clock = new FakeClock();
    const rig = await rigFor({ child: "obedient", clock, settings: { spares: 1, spareMs: 5_000 } });
    const old = await spareAfterAWhile(rig, clock);
    clock.advance(5_000);
    await vi.waitFor(() => expect(old.exit?.reason).toContain("waited too long"), PATIENCE_MS);
    await inState(rig, "spare", 1);
  });

  test("load the workflow that was used last", async () => {
    const rig = await rigFor({ child: "obedient", settings: { spares: 2 } });
    rig.supervisor.remember(WANT);
    const [loaded] = await inState(rig, "preloaded", 1);
    expect(loaded?.preloadedFor).toEqual(WANT);
    const other = await rig.supervisor.acquire(OTHER);
    expect(other).not.toBe(loaded);
    expect(await rig.supervisor.acquire(WANT)).toBe(loaded);
  });

  test("forget one workflow for another", async () => {
    const rig = await rigFor({ child: "obedient", settings: { spares: 2 } });
    rig.supervisor.remember(WANT);
    const [first] = await inState(rig, "preloaded", 1);
    rig.supervisor.remember(OTHER);
    await vi.waitFor(() => expect(first?.exit?.reason).toContain("another workflow"), PATIENCE_MS);
    const [second] = await inState(rig, "preloaded", 1);
    expect(second?.preloadedFor).toEqual(OTHER);
  });

  test("that print while they load are discarded, and the file is not loaded ahead again", async () => {
    const rig = await rigFor({ child: "prints-when-loaded", settings: { spares: 1 } });
    await inState(rig, "spare", 1);
    const [loud] = rig.supervisor.live();
    rig.supervisor.remember(WANT);
    await vi.waitFor(() => expect(loud?.exit?.reason).toContain("printed"), PATIENCE_MS);
    await inState(rig, "spare", 1);
    rig.supervisor.remember(WANT);
    expect(rig.supervisor.live().map((worker) => worker.preloadedFor)).toEqual([undefined]);
  });

  test("that load too long are discarded", async () => {
    const clock = new FakeClock();
    // It hears nothing, the wish to load included.
    const rig = await rigFor({ child: "ignores-stop", clock, settings: { spares: 1 } });
    const slow = await spareAfterAWhile(rig, clock);
    rig.supervisor.remember(WANT);
    clock.advance(RESOLVE_DEADLINE_MS);
    await vi.waitFor(() => expect(slow.exit?.reason).toContain("too long to load"), PATIENCE_MS);
  });
});
