/**
 * The scheduler over a real store, a clock that the test turns, and workers
 * without processes. Whatever a test leaves behind must be sound.
 */
import { onTestFinished, vi } from "vitest";
import type { HostContext } from "../../src/host/context.ts";
import { cancelRun, pauseRun, resumeRun } from "../../src/host/operations/runs.ts";
import { createScheduler } from "../../src/host/scheduler.ts";
import type { Scheduler } from "../../src/host/scheduler.ts";
import type { Supervisor } from "../../src/host/supervisor/supervisor.ts";
import type { Wish, WantedWorkflow } from "../../src/host/supervisor/supervised-worker.ts";
import type { RunRecord } from "../../src/host/records.ts";
import type { RunStatus } from "../../src/host/lifecycle/run.ts";
import { FakeWorker } from "./fake-worker.ts";
import { TestRig, hubAt } from "./test-host.ts";
import { troubled } from "./troubled-store.ts";
import type { TroubledStore } from "./troubled-store.ts";

type Tree = Parameters<Supervisor["endTree"]>[0];

export interface SchedulerRigOptions {
  readonly capacity?: number;
  readonly renewMs?: number;
}

/** Hands out fake workers, and lets a test hold a tree alive. */
export class FakeSupervisor implements Pick<
  Supervisor,
  "acquire" | "acquireReady" | "remember" | "endTree"
> {
  readonly wishes: Wish[] = [];
  readonly remembered: WantedWorkflow[] = [];
  readonly ended: Tree[] = [];
  /** What the next calls of `acquire` get; without one a new worker. */
  readonly prepared: (FakeWorker | Error)[] = [];
  /** What waits to be taken without delay. */
  readonly spares: FakeWorker[] = [];
  /** While set, no tree is confirmed gone. */
  holdTrees: Promise<void> | undefined;
  readonly #rig: TestRig;
  readonly #given: FakeWorker[] = [];
  #waiting: ((worker: FakeWorker) => void)[] = [];

  constructor(rig: TestRig) {
    this.#rig = rig;
  }

  async acquire(wish: Wish): Promise<FakeWorker> {
    this.wishes.push(wish);
    const worker = this.prepared.shift() ?? new FakeWorker(this.#rig.at.clock);
    if (worker instanceof Error) throw worker;
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#given.push(worker);
    else waiter(worker);
    return worker;
  }

  acquireReady(wish: Wish): FakeWorker | undefined {
    const index = this.spares.findIndex(
      ({ preloadedFor }) => preloadedFor === undefined || wish.fresh !== true,
    );
    return index < 0 ? undefined : this.spares.splice(index, 1)[0];
  }

  remember(want: WantedWorkflow): void {
    this.remembered.push(want);
  }

  async endTree(tree: Tree): Promise<void> {
    this.ended.push(tree);
    await this.holdTrees;
  }

  /** The next worker that is handed out. */
  async worker(): Promise<FakeWorker> {
    return (
      this.#given.shift() ??
      (await new Promise((resolve) => {
        this.#waiting.push(resolve);
      }))
    );
  }

  /** Workers that were handed out and not asked for by the test. */
  get unclaimed(): number {
    return this.#given.length;
  }
}

export class SchedulerRig extends TestRig {
  readonly store: TroubledStore;
  readonly supervisor = new FakeSupervisor(this);
  readonly scheduler: Scheduler;
  /** State letters of processes, where not "S". */
  readonly states = new Map<number, string>();
  readonly cpuMs = new Map<number, number>();
  /** When files changed, where long ago is not the answer. */
  readonly changes = new Map<string, number>();

  constructor({ capacity = 4, renewMs = 10_000 }: SchedulerRigOptions = {}) {
    super();
    this.store = troubled(this.at.store);
    const { host } = this;
    this.scheduler = createScheduler({
      host,
      supervisor: this.supervisor,
      settings: { capacity, renewMs, loopBlockedMs: 5_000, verdictGraceMs: 2_000 },
      lease: {
        now: () => host.leaseNow(),
        tick: (stalled) => {
          if (!stalled) this.at.leaseAdvance(1_000);
        },
      },
      cacheDir: "/cache",
      probe: {
        stateOf: (pid) => this.states.get(pid) ?? "S",
        cpuMsOf: (pid) => this.cpuMs.get(pid) ?? 0,
        bootId: () => "boot",
        changedAt: (path) => this.changes.get(path) ?? 0,
      },
    });
    onTestFinished(() => this.stop(true));
    this.scheduler.start();
  }

  override get host(): HostContext {
    return { ...this.at.host, store: this.store };
  }

  /** Admits a run that begins at this node, and takes the worker that is launched for it. */
  async launched(node = "hub"): Promise<{ readonly runId: string; readonly worker: FakeWorker }> {
    const runId = await this.admit({ graph: hubAt(node) });
    return { runId, worker: await this.supervisor.worker() };
  }

  async cancel(runId: string): Promise<void> {
    await cancelRun(this.host, this.asked("CancelRun"), { runId, note: "" });
  }

  async pause(runId: string, now = false): Promise<void> {
    await pauseRun(this.host, this.asked("PauseRun"), { runId, now });
  }

  async resume(runId: string): Promise<void> {
    await resumeRun(this.host, this.asked("ResumeRun"), { runId, sourcePolicy: "unchanged" });
  }

  /** The host stops, in as much time as it takes. */
  async stop(now: boolean): Promise<void> {
    let drained = false;
    const draining = this.scheduler.drain(now).finally(() => {
      drained = true;
    });
    const isDrained = (): boolean => drained;
    for (let tenths = 0; tenths < 200 && !isDrained(); tenths += 1) {
      this.at.clock.advance(100);
      await turns();
    }
    await draining;
  }

  /** Time passes second by second, as the ticks do, and what they begin is done. */
  async seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second += 1) {
      this.at.clock.advance(1_000);
      await turns();
    }
  }

  async reaches(runId: string, status: RunStatus): Promise<RunRecord> {
    return await vi.waitFor(
      () => {
        const run = this.run(runId);
        if (run.status !== status) throw new Error(`run is ${run.status}, not ${status}`);
        return run;
      },
      { timeout: 5_000, interval: 1 },
    );
  }

  /** Waits until nothing has a place any more. */
  async idle(): Promise<void> {
    await vi.waitFor(
      () => {
        if (this.scheduler.activations().length > 0) throw new Error("places are taken");
      },
      { timeout: 5_000, interval: 1 },
    );
  }
}

/** Lets everything that is ready happen, commits included. */
export async function turns(count = 12): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
