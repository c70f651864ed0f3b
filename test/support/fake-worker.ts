/**
 * A worker without a process: the test says what it says, and sees what it is
 * told. It obeys a stop and dies of a kill unless the test makes it stubborn.
 */
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Begin } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { AttemptOutcome } from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import { WorkRequestSchema } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { StopReason } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import type {
  WorkRequest,
  WorkResponse,
} from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { Ack } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import type {
  ExitCause,
  SupervisedWorker,
  WantedWorkflow,
  WorkerExit,
  WorkerState,
} from "../../src/host/supervisor/supervised-worker.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { newId, newSecret, sha256Hex } from "../../src/platform/ids.ts";

type FrameInit = Exclude<MessageInitShape<typeof WorkRequestSchema>, WorkRequest>;
export type FrameBody = NonNullable<FrameInit["body"]>;
type AnswerCase = NonNullable<WorkResponse["body"]["case"]>;
type AnswerOf<Case extends AnswerCase> = Extract<WorkResponse["body"], { case: Case }>["value"];

interface Waiter {
  readonly wanted: AnswerCase;
  readonly resolve: (frame: WorkResponse) => void;
}

let workers = 0;

export class FakeWorker implements SupervisedWorker {
  readonly id = newId("wrk");
  readonly epoch: number;
  readonly secretHash = sha256Hex(newSecret());
  readonly pid: number;
  readonly startTime = "100";
  readonly startedAt = 0;
  state: WorkerState = "busy";
  preloadedFor: WantedWorkflow | undefined;
  preloadedAt: number | undefined;
  boundTo: { readonly runId: string; readonly generation: number } | undefined;
  exit: WorkerExit | undefined;

  /** All frames from the host. */
  readonly told: WorkResponse[] = [];
  /** Stops and kills, in order. */
  readonly signals: string[] = [];
  deprioritised = false;
  /** False for one that ignores a stop. */
  obeys = true;
  /** False for one whose death is not seen: `dies` is up to the test. */
  mortal = true;
  output = "";
  /** Boundary and attempt as the last answer told them. */
  boundary = 0n;
  attemptId = "";

  readonly #clock: Clock;
  #number = 1n;
  #heardAt: number;
  #unread: WorkResponse[] = [];
  readonly #waiters: Waiter[] = [];
  #listener: ((frame: WorkRequest) => void) | undefined;
  #ends: ((exit: WorkerExit) => void)[] = [];

  constructor(clock: Clock, preloadedFor?: WantedWorkflow) {
    workers += 1;
    this.#clock = clock;
    this.epoch = 1_000 + workers;
    // No process has such a number.
    this.pid = 2 ** 30 + workers;
    this.preloadedFor = preloadedFor;
    this.preloadedAt = preloadedFor === undefined ? undefined : clock.now();
    this.#heardAt = clock.monotonic();
  }

  send(frame: WorkResponse): void {
    if (this.state === "ended") return;
    this.told.push(frame);
    this.#note(frame);
    const index = this.#waiters.findIndex(({ wanted }) => wanted === frame.body.case);
    if (index < 0) this.#unread.push(frame);
    else this.#waiters.splice(index, 1)[0]?.resolve(frame);
  }

  async drained(): Promise<void> {
    await Promise.resolve();
  }

  onFrame(listener: (frame: WorkRequest) => void): void {
    this.#listener = listener;
  }

  onEnd(listener: (exit: WorkerExit) => void): void {
    if (this.exit === undefined) this.#ends.push(listener);
    else listener(this.exit);
  }

  bind(runId: string, generation: number): void {
    this.boundTo = { runId, generation };
  }

  outputTail(bytes: number): string {
    return this.output.slice(-bytes);
  }

  lastFrameAt(): number {
    return this.#heardAt;
  }

  deprioritise(): void {
    this.deprioritised = true;
  }

  stop(reason: StopReason, graceMs: number): void {
    this.signals.push(`stop ${nameOfStop(reason)} ${graceMs}`);
    if (this.obeys) setImmediate(() => this.dies({ cause: "stopped", code: 0 }));
  }

  kill(): void {
    this.signals.push("kill");
    if (this.mortal) setImmediate(() => this.dies({ cause: "killed", signal: "SIGKILL" }));
  }

  /** The process is gone. */
  dies({ cause, code, signal }: { cause: ExitCause; code?: number; signal?: string }): void {
    if (this.state === "ended") return;
    this.state = "ended";
    const how = signal === undefined ? `exited with code ${code ?? 0}` : `ended by ${signal}`;
    this.exit = { code, signal, cause, reason: how, at: this.#clock.now() };
    for (const listener of this.#ends.splice(0)) listener(this.exit);
  }

  /** The first frame of this kind that was not looked at, now or when it comes. */
  async hears<Case extends AnswerCase>(wanted: Case): Promise<AnswerOf<Case>> {
    const index = this.#unread.findIndex(({ body }) => body.case === wanted);
    const frame =
      index < 0
        ? await new Promise<WorkResponse>((resolve) => {
            this.#waiters.push({ wanted, resolve });
          })
        : this.#unread.splice(index, 1)[0];
    // The case was compared above.
    return frame?.body.value as AnswerOf<Case>;
  }

  /** Sends a frame of its present place; returns its number. */
  says(body: FrameBody, change: Omit<FrameInit, "$typeName"> = {}): bigint {
    this.#number += 1n;
    this.#heardAt = this.#clock.monotonic();
    const frame = create(WorkRequestSchema, {
      number: this.#number,
      workerEpoch: BigInt(this.epoch),
      ...(this.boundTo === undefined ? {} : { claim: { ...this.boundTo, workerId: this.id } }),
      attemptId: this.attemptId,
      expectedBoundary: this.boundary,
      body,
      ...change,
    });
    this.#listener?.(frame);
    return this.#number;
  }

  heartbeat(cpuMs = 0): void {
    this.says({ case: "progress", value: { cpuMs: BigInt(cpuMs) } });
  }

  /** Loads what it is bound to and is told where to begin. */
  async begins(timeoutMs?: number): Promise<Begin> {
    await this.hears("bootstrap");
    const timeout = timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) };
    this.says({ case: "ready", value: timeout });
    return await this.hears("begin");
  }

  /** Ends its attempt with an output and takes the edge. */
  async advances(node: string, { output = {}, timeoutMs }: AdvanceOptions = {}): Promise<Ack> {
    const timeout = timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) };
    this.says({
      case: "advance",
      value: {
        result: { outcome: AttemptOutcome.OK, outputJson: json(output) },
        follow: { case: "next", value: { node, ...timeout } },
      },
    });
    return await this.hears("ack");
  }

  /** Ends its attempt and the run. */
  async finishes(result: unknown = "done"): Promise<Ack> {
    this.says({
      case: "advance",
      value: {
        result: { outcome: AttemptOutcome.OK, outputJson: json(result) },
        follow: { case: "end", value: { outcome: AttemptOutcome.OK, resultJson: json(result) } },
      },
    });
    return await this.hears("ack");
  }

  #note({ body }: WorkResponse): void {
    if (body.case === "begin" || body.case === "ack") this.#stand(body.value);
    else if (body.case === "bootstrap" && body.value.begin !== undefined) {
      this.#stand(body.value.begin);
    }
  }

  #stand({ boundary, attemptId }: Begin | Ack): void {
    this.boundary = boundary;
    if (attemptId !== "") this.attemptId = attemptId;
  }
}

interface AdvanceOptions {
  readonly output?: unknown;
  readonly timeoutMs?: number;
}

export function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function nameOfStop(reason: StopReason): string {
  return Object.entries(StopReason).find(([, value]) => value === reason)?.[0] ?? String(reason);
}
