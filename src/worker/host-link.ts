import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import type { Claim } from "../gen/piworkflows/common/v1/claim_pb.ts";
import {
  WorkerService,
  WorkRequestSchema,
} from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkRequest, WorkResponse } from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { openHostLink, WORKER_HEADER } from "../client/transport.ts";

export type FrameBody = NonNullable<MessageInitShape<typeof WorkRequestSchema>["body"]>;
export type OrderBody = WorkResponse["body"];

export interface FramePlace {
  readonly attemptId?: string;
  readonly boundary?: number;
}

export interface StreamOptions {
  readonly socketPath: string;
  readonly secret: string;
  readonly workerEpoch: number;
  /** Frames that answer none of ours. */
  readonly onOrder: (order: OrderBody) => void;
  /** The stream is over, for whatever reason. Called once. */
  readonly onEnd: () => void;
}

/** The one stream of a worker: numbered frames out, answers and orders in. */
export interface HostStream {
  /** Binds the claim that all later frames carry. */
  bind(claim: Claim): void;
  /** Sends a frame that is answered; resolves with the answer's body. */
  ask(body: FrameBody, place?: FramePlace): Promise<OrderBody>;
  /** Sends a frame that is not. */
  tell(body: FrameBody, place?: FramePlace): void;
}

export function openHostStream(options: StreamOptions): HostStream {
  const { transport } = openHostLink({ socketPath: options.socketPath, forStream: true });
  const outbox = new Outbox();
  const waiting = new Map<bigint, (body: OrderBody) => void>();
  let number = 0n;
  let claim: Claim | undefined;

  const send = (body: FrameBody, { attemptId = "", boundary = 0 }: FramePlace): bigint => {
    number += 1n;
    outbox.push(
      create(WorkRequestSchema, {
        number,
        workerEpoch: BigInt(options.workerEpoch),
        ...(claim === undefined ? {} : { claim }),
        attemptId,
        expectedBoundary: BigInt(boundary),
        body,
      }),
    );
    return number;
  };
  const responses = createClient(WorkerService, transport).work(outbox.drain(), {
    headers: { [WORKER_HEADER]: options.secret },
  });
  void receive(responses, waiting, options);
  return {
    bind: (bound) => {
      claim = bound;
    },
    ask: (body, place = {}) =>
      new Promise((resolve) => {
        waiting.set(send(body, place), resolve);
      }),
    tell: (body, place = {}) => {
      send(body, place);
    },
  };
}

async function receive(
  responses: AsyncIterable<WorkResponse>,
  waiting: Map<bigint, (body: OrderBody) => void>,
  { onOrder, onEnd }: StreamOptions,
): Promise<void> {
  try {
    for await (const { inReplyTo, body } of responses) {
      const answered = waiting.get(inReplyTo);
      waiting.delete(inReplyTo);
      if (answered !== undefined && body.case !== "lost") answered(body);
      else onOrder(body);
    }
  } catch {
    // However the stream broke, the host is not to be reached any more.
  } finally {
    onEnd();
  }
}

/** Frames that are to be sent, as the iterable that a stream is fed from. */
class Outbox {
  readonly #frames: WorkRequest[] = [];
  #wake: (() => void) | undefined;

  push(frame: WorkRequest): void {
    this.#frames.push(frame);
    this.#wake?.();
  }

  async *drain(): AsyncGenerator<WorkRequest> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) yield frame;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
