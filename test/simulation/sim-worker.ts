/**
 * A worker without a process. What it and its host say to one another lies in
 * two queues until the world delivers it, and everything that would be done to
 * the process is done when the world comes to it.
 */
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { StopReason } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import { WorkRequestSchema } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type {
  WorkRequest,
  WorkResponse,
} from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type {
  ExitCause,
  SupervisedWorker,
  WorkerExit,
  WorkerState,
} from "../../src/host/supervisor/supervised-worker.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { newId, newSecret, sha256Hex } from "../../src/platform/ids.ts";

type FrameInit = Exclude<MessageInitShape<typeof WorkRequestSchema>, WorkRequest>;
export type FrameBody = NonNullable<FrameInit["body"]>;

/** Something that is on its way: a frame, a signal, an end. */
export type Event =
  | { readonly kind: "frame"; readonly frame: WorkResponse }
  | { readonly kind: "stop" }
  | { readonly kind: "kill" };

/** No process has such a number. */
const FIRST_PID = 2 ** 30;

export interface SimWorkerOptions {
  readonly clock: Clock;
  readonly number: number;
  /** Its host is dead: nothing of what that says gets anywhere. */
  readonly isCut: () => boolean;
  readonly onSent: (frame: WorkResponse) => void;
  /** Its host is about to hear a frame. */
  readonly onHeard: (frame: WorkRequest) => void;
}

export class SimWorker implements SupervisedWorker {
  readonly id = newId("wrk");
  readonly secretHash = sha256Hex(newSecret());
  readonly startTime = "100";
  readonly preloadedFor = undefined;
  readonly preloadedAt = undefined;
  readonly pid: number;
  readonly epoch: number;
  readonly startedAt: number;
  boundTo: { readonly runId: string; readonly generation: number } | undefined;
  exit: WorkerExit | undefined;
  /** Stopped by a signal: it reads and says nothing until it is continued. */
  frozen = false;
  /** Ignores a stop, as one whose loop is held. */
  stubborn = false;
  /** What comes to it, in order. */
  readonly inbox: Event[] = [];
  /** What it has said and its host has not heard, in order. */
  readonly outbox: WorkRequest[] = [];
  /** The process is gone, whether its host knows or not. */
  gone = false;

  readonly #options: SimWorkerOptions;
  #heardAt: number;
  #number = 1n;
  #listener: ((frame: WorkRequest) => void) | undefined;
  #unheard: WorkRequest[] = [];
  #ends: ((exit: WorkerExit) => void)[] = [];

  constructor(options: SimWorkerOptions) {
    const { clock, number } = options;
    this.#options = options;
    this.pid = FIRST_PID + number;
    this.epoch = 1_000 + number;
    this.startedAt = clock.now();
    this.#heardAt = clock.monotonic();
  }

  get state(): WorkerState {
    return this.exit === undefined ? "busy" : "ended";
  }

  send(frame: WorkResponse): void {
    if (this.gone || this.#options.isCut()) return;
    this.#options.onSent(frame);
    this.inbox.push({ kind: "frame", frame });
  }

  async drained(): Promise<void> {
    await Promise.resolve();
  }

  onFrame(listener: (frame: WorkRequest) => void): void {
    this.#listener = listener;
    for (const frame of this.#unheard.splice(0)) listener(frame);
  }

  onEnd(listener: (exit: WorkerExit) => void): void {
    if (this.exit === undefined) this.#ends.push(listener);
    else listener(this.exit);
  }

  bind(runId: string, generation: number): void {
    this.boundTo = { runId, generation };
  }

  outputTail(): string {
    return `printed by ${this.id}`;
  }

  lastFrameAt(): number {
    return this.#heardAt;
  }

  deprioritise(): void {
    // Nobody competes with it here.
  }

  stop(reason: StopReason): void {
    if (this.#options.isCut()) return;
    // A spare that nobody needs has nothing to lose.
    this.inbox.push({ kind: reason === StopReason.RETIRED ? "kill" : "stop" });
  }

  kill(): void {
    if (!this.#options.isCut()) this.signalled();
  }

  /** A signal is on its way to it, whoever sent it. */
  signalled(): void {
    this.inbox.push({ kind: "kill" });
  }

  /** Puts a frame on its way and returns it. */
  says(body: FrameBody, place: Partial<Omit<FrameInit, "$typeName" | "body">> = {}): WorkRequest {
    this.#number += 1n;
    const frame = create(WorkRequestSchema, {
      number: this.#number,
      workerEpoch: BigInt(this.epoch),
      ...(this.boundTo === undefined ? {} : { claim: { ...this.boundTo, workerId: this.id } }),
      ...place,
      body,
    });
    this.outbox.push(frame);
    return frame;
  }

  /** Its host hears a frame. */
  heard(frame: WorkRequest): void {
    if (this.#options.isCut()) return;
    this.#heardAt = this.#options.clock.monotonic();
    this.#options.onHeard(frame);
    if (this.#listener === undefined) this.#unheard.push(frame);
    else this.#listener(frame);
  }

  /** The process ends; what it has written into its stream is still read. */
  dies({ cause, code, signal }: Omit<WorkerExit, "reason" | "at">): void {
    if (this.gone) return;
    this.gone = true;
    this.inbox.length = 0;
    for (const frame of this.outbox.splice(0)) this.heard(frame);
    const reason = signal === undefined ? `exited with code ${code ?? 0}` : `ended by ${signal}`;
    this.exit = { code, signal, cause, reason, at: this.#options.clock.now() };
    for (const listener of this.#ends.splice(0)) listener(this.exit);
  }
}

export function killedBy(cause: ExitCause): Omit<WorkerExit, "reason" | "at"> {
  return { cause, code: undefined, signal: "SIGKILL" };
}
