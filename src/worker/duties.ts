import type { MessageInitShape } from "@bufbuild/protobuf";
import { ClaimSchema } from "../gen/piworkflows/common/v1/claim_pb.ts";
import { create } from "@bufbuild/protobuf";
import type { HelloSchema } from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { Clock } from "../platform/clock.ts";
import { describeError } from "../workflow/describe-error.ts";
import type { ErrorDescription } from "../workflow/describe-error.ts";
import { ClaimLostError } from "../workflow/errors.ts";
import { serveActivation } from "./active-run.ts";
import { Gathering } from "./activation.ts";
import { claimLoss, stopError } from "./from-wire.ts";
import type { FrameBody, HostStream, OrderBody } from "./host-link.ts";
import { rehearse } from "./rehearsal.ts";
import { failure as wireFailure } from "./to-wire.ts";
import { CannotLoad, requireSound, resolve, Workshop } from "./workshop.ts";

export interface DutiesOptions {
  readonly workerId: string;
  readonly clock: Clock;
  readonly stream: HostStream;
  /** There is nothing left to do in this process. */
  readonly done: () => void;
}

/** A host that hears nothing for five seconds takes the loop for blocked. */
const HEARTBEAT_MS = 1_000;
/** A worker without an order for so long is a spare, and whoever waited for it has been served. */
const IDLE_MS = 500;
/** A host that does not take the farewell is not waited for any longer. */
const FLUSH_MS = 50;

/** What a worker does when its host says so. */
export class Duties {
  readonly #options: DutiesOptions;
  readonly #workshop = new Workshop();
  readonly #stop = new AbortController();
  #gathering: Gathering | undefined;
  #active = false;
  #ordered = false;
  #rehearsal: Promise<void> | undefined;

  constructor(options: DutiesOptions) {
    this.#options = options;
  }

  /** Says that this process has everything loaded. */
  async hello(hello: MessageInitShape<typeof HelloSchema>): Promise<void> {
    await this.#workshop.prepare();
    this.#tell({ case: "hello", value: hello });
    // One that is waited for gets its order at once.
    this.#options.clock.after(IDLE_MS, () => void this.#warmUp());
  }

  /** Author code ended the process: the host decides the attempt. */
  fail(failure: ErrorDescription): void {
    const reason = `${failure.name}: ${failure.message}`;
    this.#tell({ case: "exiting", value: { reason, failure: wireFailure(failure) } });
  }

  take(order: OrderBody): void {
    this.#ordered = true;
    switch (order.case) {
      case "resolve":
        void this.#load(async () => ({
          case: "resolved",
          value: await resolve(this.#workshop, order.value),
        }));
        break;
      case "preload":
        void this.#load(async () => {
          requireSound(await this.#workshop.load(order.value));
          await this.#rehearse();
          await this.#workshop.rehearse(order.value);
          return { case: "preloaded", value: {} };
        });
        break;
      case "bootstrap":
        this.#gathering = new Gathering(order.value);
        break;
      case "state":
        this.#gathering?.addState(order.value);
        break;
      case "source":
        this.#gathering?.addSource(order.value);
        break;
      case "lost":
        this.#stop.abort(new ClaimLostError(claimLoss(order.value.loss)));
        this.#options.done();
        break;
      case "stop":
        this.#stop.abort(stopError(order.value.reason));
        if (!this.#active) this.#leave("told to stop");
        break;
      default:
        // Answers to our own frames never come here.
        break;
    }
    this.#activateWhenComplete();
  }

  async #load(load: () => Promise<FrameBody>): Promise<void> {
    try {
      this.#tell(await load());
    } catch (thrown) {
      this.#tell({ case: "loadFailed", value: failureOf(thrown) });
    }
  }

  async #warmUp(): Promise<void> {
    if (this.#ordered) return;
    await this.#rehearse();
    // An order that came meanwhile has the compiler for itself, and ends it.
    if (this.#ordered) return;
    try {
      await this.#workshop.warmUp();
    } catch {
      // Ended by the load of an order that came meanwhile, or not to be started: then a load tells why.
    }
  }

  async #rehearse(): Promise<void> {
    this.#rehearsal ??= rehearse();
    await this.#rehearsal;
  }

  #activateWhenComplete(): void {
    const gathering = this.#gathering;
    if (gathering === undefined || !gathering.complete) return;
    this.#gathering = undefined;
    this.#active = true;
    void this.#activate(gathering);
  }

  async #activate(gathering: Gathering): Promise<void> {
    const { clock, stream, workerId } = this.#options;
    const { runId, generation } = gathering.bootstrap;
    stream.bind(create(ClaimSchema, { runId, generation, workerId }));
    clock.every(HEARTBEAT_MS, () => this.#heartbeat());
    const options = { clock, stream, workshop: this.#workshop, stop: this.#stop.signal };
    try {
      await serveActivation(options, gathering);
      this.#leave("the activation is over");
    } catch (thrown) {
      if (thrown instanceof CannotLoad) this.#tell({ case: "loadFailed", value: thrown.failure });
      else this.#leave(`the worker failed: ${describeError(thrown).message}`);
    }
  }

  #heartbeat(): void {
    const { user, system } = process.cpuUsage();
    const cpuMs = BigInt(Math.round((user + system) / 1_000));
    this.#tell({ case: "progress", value: { cpuMs } });
  }

  #tell(body: FrameBody): void {
    this.#options.stream.tell(body);
  }

  #leave(reason: string): void {
    this.#tell({ case: "exiting", value: { reason } });
    const { clock, stream, done } = this.#options;
    stream.whenFlushed(done);
    clock.after(FLUSH_MS, done);
  }
}

function failureOf(thrown: unknown): CannotLoad["failure"] {
  if (thrown instanceof CannotLoad) return thrown.failure;
  return { message: describeError(thrown).message };
}
