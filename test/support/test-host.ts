import { expect } from "vitest";
import type { HostContext } from "../../src/host/context.ts";
import { diagnose } from "../../src/host/diagnosis.ts";
import { HostError } from "../../src/host/errors.ts";
import { admitRun } from "../../src/host/operations/runs.ts";
import type { Admission } from "../../src/host/operations/runs.ts";
import { commandFingerprint } from "../../src/host/operations/canonical.ts";
import type { AskedCommand } from "../../src/host/operations/canonical.ts";
import { interruptRun, launchRun, recordWorkerExit } from "../../src/host/operations/claims.ts";
import { settleDue } from "../../src/host/operations/timers.ts";
import type { GraphRecord, RunRecord } from "../../src/host/records.ts";
import type { Store } from "../../src/host/store/store.ts";
import type { Reader } from "../../src/host/store/tx.ts";
import { newId, newSecret, sha256Hex } from "../../src/platform/ids.ts";
import { LEAVES } from "./leaves.ts";
import { openTestHost } from "./test-store.ts";
import type { TestHost } from "./test-store.ts";
import { TestWorker } from "./test-worker.ts";

/** Nodes that the hub leads to and that lead to the end. */
const LEAF_PATHS = LEAVES.map((node) => node.path);

/** One node of each kind of behaviour; `hub` leads to all of them and all lead to `end`. */
export const HUB_GRAPH: GraphRecord = {
  name: "hub",
  startAt: "hub",
  maxSteps: 20,
  nodes: [{ path: "hub", kind: "compute" }, ...LEAVES, { path: "end", kind: "compute" }],
  edges: [
    {
      from: "hub",
      on: "$.to",
      cases: ["hub", ...LEAF_PATHS].map((to) => ({ value: to, to })),
      default: "end",
    },
    ...LEAF_PATHS.map((from) => ({ from, to: "end" })),
  ],
};

/** The hub, begun at another node. */
export function hubAt(startAt: string): GraphRecord {
  return { ...HUB_GRAPH, startAt };
}

/**
 * The host's core without socket, scheduler and processes: a real store, a clock
 * and a lease that a test turns, and workers that are only their proofs. Every
 * step made through it ends with a diagnosis that must find nothing.
 */
export class TestRig {
  readonly at: TestHost = openTestHost();
  #commands = 0;

  get host(): TestHost["host"] {
    return this.at.host;
  }

  get reader(): Reader {
    return this.at.store.reader;
  }

  /** The same host with a store that takes no write. */
  failing(message: string): HostContext {
    const write = (): Promise<never> => Promise.reject(new Error(message));
    // Everything but the write is the store's own.
    const store = Object.create(this.host.store, { write: { value: write } }) as Store;
    return { ...this.host, store };
  }

  /** A command of its own; the same `key` again with the same `fields` is its repeat. */
  asked(
    method: string,
    options: { key?: string; fields?: Record<string, unknown>; expectedRevision?: number } = {},
  ): AskedCommand {
    this.#commands += 1;
    const key = options.key ?? `key-${this.#commands}`;
    const { expectedRevision } = options;
    return {
      command: {
        requestId: key,
        key,
        client: "test",
        ...(expectedRevision === undefined ? {} : { expectedRevision }),
      },
      method,
      fingerprint: commandFingerprint(method, options.fields ?? {}),
    };
  }

  /** Waits for an operation and checks that what it left behind is sound. */
  async sound<T>(operation: Promise<T>): Promise<T> {
    const result = await operation;
    expect(diagnose(this.reader)).toEqual([]);
    return result;
  }

  async admit(change: Partial<Admission> = {}): Promise<string> {
    const { runId } = await this.sound(
      admitRun(this.host, this.asked("StartRun"), { ...admission(), ...change }),
    );
    if (runId === undefined) throw new Error("admission named no run");
    return runId;
  }

  run(runId: string): RunRecord {
    const run = this.reader.runs.get(runId);
    if (run === undefined) throw new HostError("RUN_NOT_FOUND", `no run ${runId}`);
    return run;
  }

  /** Kinds of the run's events, oldest first. */
  events(runId: string): readonly string[] {
    return this.reader.events.ofRun(runId, 0, 1_000).map((event) => event.kind);
  }

  /** A worker that has the run's claim and has not attached. */
  async launch(runId: string): Promise<TestWorker> {
    const workerId = newId("wrk");
    const tokenHash = sha256Hex(newSecret());
    const worker = { workerId, pid: 4_711, startTime: "100", bootId: "boot" };
    const { generation } = await this.sound(launchRun(this.host, { runId, worker, tokenHash }));
    return new TestWorker(this, { runId, workerId, generation, tokenHash });
  }

  /** The next worker of a queued run, attached; the one before it is confirmed gone first. */
  async relaunch(runId: string): Promise<TestWorker> {
    const before = this.reader.workers.newest(runId);
    if (before !== undefined) await this.exit(before.workerId);
    const worker = await this.launch(runId);
    await worker.attach();
    return worker;
  }

  /** A new run whose worker executes its first node. */
  async running(node = "hub", change: Partial<Admission> = {}): Promise<TestWorker> {
    return this.relaunch(await this.admit({ graph: hubAt(node), ...change }));
  }

  async exit(workerId: string): Promise<void> {
    await this.sound(recordWorkerExit(this.host, { workerId, code: 0, reason: "exited" }));
  }

  /** The worker of a generation dies without a word. */
  async lose(
    worker: TestWorker,
    { counted = true, outputTail = "" }: { counted?: boolean; outputTail?: string } = {},
  ): Promise<string> {
    const { runId, generation } = worker.proof;
    const lost = { runId, generation, reason: "killed by SIGKILL", counted, outputTail };
    return this.sound(interruptRun(this.host, lost));
  }

  /** Time passes, and what is due by then is settled. */
  async pass(ms: number): Promise<number> {
    this.at.clock.advance(ms);
    return this.sound(settleDue(this.host, this.at.clock.now()));
  }
}

export function admission(): Admission {
  return {
    workflow: "hub",
    workflowPath: "/project/hub.workflow.ts",
    projectDir: "/project",
    title: "",
    graph: HUB_GRAPH,
    sources: [],
    inputJson: '{"to":"end"}',
    priority: 0,
  };
}
