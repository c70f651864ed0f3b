import type { Clock } from "../../platform/clock.ts";
import type { SupervisedWorker } from "../supervisor/supervised-worker.ts";
import type { ProcessProbe } from "./tools.ts";

/** A worker whose event loop stands still. Nothing is rerun because of it. */
export interface LoopBlock {
  readonly node: string;
  /** Wall-clock milliseconds. */
  readonly since: number;
  /** Processor time the worker has used since then. */
  readonly cpuMs: number;
}

/** Nodes may begin a thousand times a second, and the answer is shown in seconds. */
const CPU_STALE_MS = 250;

/** Sees that a worker that sends heartbeats whenever its loop turns has stopped to. */
export class LoopWatch {
  readonly #clock: Clock;
  readonly #worker: SupervisedWorker;
  readonly #probe: ProcessProbe;
  readonly #blockedMs: number;
  #cpuMs = 0;
  #cpuKnownAt = Number.NEGATIVE_INFINITY;
  #node: string;
  #deprioritised = false;

  constructor(
    { clock, probe, blockedMs }: LoopWatchOptions,
    worker: SupervisedWorker,
    node: string,
  ) {
    this.#clock = clock;
    this.#worker = worker;
    this.#probe = probe;
    this.#blockedMs = blockedMs;
    this.#node = node;
  }

  /** The worker begins a node. */
  executes(node: string): void {
    this.#node = node;
    if (this.#clock.monotonic() - this.#cpuKnownAt < CPU_STALE_MS) return;
    this.heard(this.#probe.cpuMsOf(this.#worker.pid) ?? this.#cpuMs);
  }

  /** A heartbeat with the processor time used so far. */
  heard(cpuMs: number): void {
    this.#cpuMs = cpuMs;
    this.#cpuKnownAt = this.#clock.monotonic();
  }

  /** Drops the priority of a blocked worker, once; true when it did so now. */
  check(): boolean {
    if (this.#deprioritised || !this.#isBlocked()) return false;
    this.#deprioritised = true;
    this.#worker.deprioritise();
    return true;
  }

  block(): LoopBlock | undefined {
    if (!this.#isBlocked()) return undefined;
    const used = (this.#probe.cpuMsOf(this.#worker.pid) ?? this.#cpuMs) - this.#cpuMs;
    const since = this.#clock.now() - Math.round(this.#silentMs());
    return { node: this.#node, since, cpuMs: Math.max(0, used) };
  }

  #isBlocked(): boolean {
    return this.#silentMs() >= this.#blockedMs;
  }

  #silentMs(): number {
    return this.#clock.monotonic() - this.#worker.lastFrameAt();
  }
}

interface LoopWatchOptions {
  readonly clock: Clock;
  readonly probe: ProcessProbe;
  readonly blockedMs: number;
}
