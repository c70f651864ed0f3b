/** One worker: its process and its stream, from the spawn until it is gone. */
import { create } from "@bufbuild/protobuf";
import { PreloadSchema } from "../../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { WorkResponseSchema } from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { StopSchema } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import type {
  Hello,
  WorkRequest,
  WorkResponse,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { StopReason } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import type { Clock, Timer } from "../../platform/clock.ts";
import { HANDSHAKE_DEADLINE_MS, KILL_GRACE_MS, RESOLVE_DEADLINE_MS } from "../limits.ts";
import { Child } from "./child.ts";
import type { ChildEnd, ChildOptions } from "./child.ts";
import { describeExit, stopIntent } from "./exit-reason.ts";
import type { Intent } from "./exit-reason.ts";
import type {
  SupervisedWorker,
  WantedWorkflow,
  WorkerChannel,
  WorkerExit,
  WorkerState,
} from "./supervised-worker.ts";

/** What the supervisor wants to know of each of its workers. */
export interface WorkerEvents {
  /** It said hello. */
  ready(worker: WorkerProcess): void;
  /** The answer to `preload`; a failure is told in words. */
  preloaded(worker: WorkerProcess, failure: string | undefined): void;
  /** It printed something. */
  output(worker: WorkerProcess): void;
  /** Its process is dead, in this very moment. */
  died(worker: WorkerProcess): void;
  /** Its process is gone and its output stored; what waited for that has been told. */
  ended(worker: WorkerProcess): void;
}

export interface WorkerSpec {
  readonly clock: Clock;
  readonly id: string;
  readonly epoch: number;
  readonly secretHash: string;
  /** The version it must have: the host's own. */
  readonly version: string;
  readonly child: Omit<ChildOptions, "events" | "clock">;
  readonly events: WorkerEvents;
}

/** A worker that talks faster than anybody listens is not one of ours. */
const FRAMES_UNHEARD_MAX = 1_024;
/** Enough of the output for Node's last words, which a stack of native frames may follow. */
const LAST_WORDS_BYTES = 16_384;
const LOWEST_PRIORITY = 19;

export class WorkerProcess implements SupervisedWorker {
  readonly id: string;
  readonly epoch: number;
  readonly secretHash: string;
  readonly pid: number;
  readonly startTime: string;
  readonly startedAt: number;
  state: WorkerState = "starting";
  preloadedFor: WantedWorkflow | undefined;
  preloadedAt: number | undefined;
  boundTo: { readonly runId: string; readonly generation: number } | undefined;
  exit: WorkerExit | undefined;
  /** True while it loads what nobody needs yet. */
  loading = false;

  readonly #spec: WorkerSpec;
  readonly #child: Child;
  readonly #timers = new Set<Timer>();
  #channel: WorkerChannel | undefined;
  #frames = 0n;
  #lastFrameAt: number;
  #intent: Intent | undefined;
  #unheard: WorkRequest[] = [];
  #onFrame: ((frame: WorkRequest) => void) | undefined;
  #onEnd: ((exit: WorkerExit) => void)[] = [];

  constructor(spec: WorkerSpec) {
    this.#spec = spec;
    this.id = spec.id;
    this.epoch = spec.epoch;
    this.secretHash = spec.secretHash;
    this.startedAt = spec.clock.now();
    this.#lastFrameAt = spec.clock.monotonic();
    this.#child = new Child({
      ...spec.child,
      clock: spec.clock,
      events: {
        output: () => spec.events.output(this),
        died: () => spec.events.died(this),
        ended: (end) => this.#end(end),
      },
    });
    this.pid = this.#child.pid;
    this.startTime = this.#child.startTime;
    this.#after(HANDSHAKE_DEADLINE_MS, () => {
      const words = `did not say hello within ${HANDSHAKE_DEADLINE_MS / 1_000} s`;
      if (this.state === "starting") this.destroy({ cause: "handshake", words });
    });
  }

  /** True once somebody decided that it ends. */
  get isEnding(): boolean {
    return this.#intent !== undefined || this.exit !== undefined;
  }

  /** Its stream opened. A second one is a mistake of somebody, and is closed. */
  connect(channel: WorkerChannel): void {
    const isExpected = this.#channel === undefined && this.state === "starting" && !this.isEnding;
    if (!isExpected) channel.close();
    else this.#channel = channel;
  }

  /** Its stream ended: it ends by itself now, or is ended. */
  disconnected(): void {
    this.#channel = undefined;
    const intent: Intent = { cause: "disconnected", words: "its stream ended" };
    if (this.state !== "busy") this.destroy(intent);
    else this.#after(KILL_GRACE_MS, () => this.destroy(intent));
  }

  /** A frame of its stream. */
  receive(frame: WorkRequest): void {
    if (this.state === "ended") return;
    this.#lastFrameAt = this.#spec.clock.monotonic();
    this.#frames += 1n;
    const { number, workerEpoch } = frame;
    if (number !== this.#frames || workerEpoch !== BigInt(this.epoch)) {
      this.#violates(`frame ${number} of epoch ${workerEpoch} after ${this.#frames - 1n}`);
    } else if (this.state === "starting") this.#greet(frame);
    else if (this.loading && isLoadAnswer(frame)) this.#loaded(frame);
    else if (this.state === "busy") this.#hear(frame);
    else if (!isHarmless(frame)) this.#violates(`${frame.body.case ?? "nothing"} from a spare`);
  }

  /** Loads a workflow before anybody needs it. */
  preload(want: WantedWorkflow, cacheDir: string): void {
    this.preloadedFor = want;
    this.preloadedAt = this.#spec.clock.now();
    this.loading = true;
    const value = create(PreloadSchema, { ...want, cacheDir });
    this.send(create(WorkResponseSchema, { body: { case: "preload", value } }));
    this.#after(RESOLVE_DEADLINE_MS, () => {
      if (this.loading) this.#loadingEnded("took too long to load");
    });
  }

  /** Hands it to whoever asked; a worker is taken once. */
  take(): void {
    this.state = "busy";
  }

  send(frame: WorkResponse): void {
    this.#channel?.send(frame);
  }

  async drained(): Promise<void> {
    await this.#channel?.drained?.();
  }

  onFrame(listener: (frame: WorkRequest) => void): void {
    this.#onFrame = listener;
    const unheard = this.#unheard;
    this.#unheard = [];
    for (const frame of unheard) listener(frame);
  }

  onEnd(listener: (exit: WorkerExit) => void): void {
    if (this.exit === undefined) this.#onEnd.push(listener);
    else listener(this.exit);
  }

  bind(runId: string, generation: number): void {
    if (this.boundTo !== undefined)
      throw new Error(`${this.id} serves ${this.boundTo.runId} already`);
    this.boundTo = { runId, generation };
    this.#spec.child.capture.keep();
  }

  outputTail(bytes: number): string {
    return this.#spec.child.capture.text(bytes);
  }

  lastFrameAt(): number {
    return this.#lastFrameAt;
  }

  deprioritise(): void {
    this.#child.setNiceness(LOWEST_PRIORITY);
  }

  stop(reason: StopReason, graceMs: number): void {
    if (this.state === "ended") return;
    this.#intent ??= stopIntent(reason);
    const value = create(StopSchema, { reason, graceMs });
    this.send(create(WorkResponseSchema, { body: { case: "stop", value } }));
    this.#after(graceMs, () => this.#child.signal("SIGTERM"));
    this.#after(graceMs + KILL_GRACE_MS, () => this.#child.signal("SIGKILL"));
  }

  kill(): void {
    this.destroy({ cause: "killed", words: "killed by the host" });
  }

  /** Ends it at once, for this reason unless there was one before. */
  destroy(intent: Intent): void {
    if (this.state === "ended") return;
    this.#intent ??= intent;
    this.#hangUp();
    this.#child.signal("SIGKILL");
  }

  #hangUp(): void {
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
  }

  #greet(frame: WorkRequest): void {
    const problem =
      frame.body.case === "hello"
        ? helloProblem(frame.body.value, { pid: this.pid, version: this.#spec.version })
        : unlikeHello(`said ${frame.body.case ?? "nothing"} instead of hello`);
    if (problem !== undefined) {
      this.destroy(problem);
      return;
    }
    this.state = "spare";
    this.#spec.events.ready(this);
  }

  #loaded({ body }: WorkRequest): void {
    this.#loadingEnded(body.case === "loadFailed" ? body.value.message : undefined);
  }

  #loadingEnded(failure: string | undefined): void {
    this.loading = false;
    if (failure === undefined && this.state === "spare") this.state = "preloaded";
    this.#spec.events.preloaded(this, failure);
  }

  #hear(frame: WorkRequest): void {
    if (this.#onFrame !== undefined) this.#onFrame(frame);
    else if (this.#unheard.push(frame) > FRAMES_UNHEARD_MAX) this.#violates("too many frames");
  }

  #violates(what: string): void {
    this.destroy({ cause: "protocol", words: `broke the protocol: ${what}` });
  }

  #after(delayMs: number, run: () => void): void {
    this.#timers.add(this.#spec.clock.after(delayMs, run));
  }

  #end(end: ChildEnd): void {
    for (const timer of this.#timers) timer.cancel();
    this.#hangUp();
    this.state = "ended";
    const exit = describeExit(end, {
      intent: this.#intent,
      tail: this.outputTail(LAST_WORDS_BYTES),
      at: this.#spec.clock.now(),
    });
    this.exit = exit;
    const listeners = this.#onEnd;
    this.#onEnd = [];
    for (const listener of listeners) listener(exit);
    this.#spec.events.ended(this);
  }
}

function isLoadAnswer({ body }: WorkRequest): boolean {
  return body.case === "preloaded" || body.case === "loadFailed";
}

/** What any worker may say at any time. */
function isHarmless({ body }: WorkRequest): boolean {
  return body.case === "progress" || body.case === "exiting";
}

function helloProblem(
  hello: Hello,
  expected: { readonly pid: number; readonly version: string },
): Intent | undefined {
  if (hello.version !== expected.version) {
    const remedy = "the package was replaced; run: pi-workflows host restart";
    const words = `is version ${hello.version}, the host is ${expected.version} (${remedy})`;
    return { cause: "version", words };
  }
  return hello.pid === expected.pid ? undefined : unlikeHello(`says it is process ${hello.pid}`);
}

function unlikeHello(words: string): Intent {
  return { cause: "handshake", words };
}
