import { connect as connectHttp2 } from "node:http2";
import type { ClientHttp2Stream } from "node:http2";
import { connect } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Claim } from "../gen/piworkflows/common/v1/claim_pb.ts";
import {
  WorkerService,
  WorkRequestSchema,
  WorkResponseSchema,
} from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkResponse } from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { FrameReader, framed } from "../platform/message-frames.ts";

/** Carries the secret of a worker. */
export const WORKER_HEADER = "x-pi-workflows-worker";
/** A socket has no host name, but HTTP/2 wants an authority. */
const AUTHORITY = "http://localhost";
/** Above the largest value a run may hold, with room for its encoding. */
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;

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

/**
 * The one stream of a worker: numbered frames out, answers and orders in. It
 * speaks gRPC without a framework in between, as the host does (worker-service.ts).
 */
export interface HostStream {
  /** Binds the claim that all later frames carry. */
  bind(claim: Claim): void;
  /** Sends a frame that is answered; resolves with the answer's body. */
  ask(body: FrameBody, place?: FramePlace): Promise<OrderBody>;
  /** Sends a frame that is not. */
  tell(body: FrameBody, place?: FramePlace): void;
  /** Runs when all that was sent has left this process. */
  whenFlushed(run: () => void): void;
}

export function openHostStream(options: StreamOptions): HostStream {
  const stream = openStream(options);
  const waiting = new Map<bigint, (body: OrderBody) => void>();
  let number = 0n;
  let claim: Claim | undefined;

  const send = (body: FrameBody, { attemptId = "", boundary = 0 }: FramePlace): bigint => {
    number += 1n;
    const frame = create(WorkRequestSchema, {
      number,
      workerEpoch: BigInt(options.workerEpoch),
      ...(claim === undefined ? {} : { claim }),
      attemptId,
      expectedBoundary: BigInt(boundary),
      body,
    });
    stream.write(framed(toBinary(WorkRequestSchema, frame)));
    return number;
  };
  receive(stream, options, ({ inReplyTo, body }) => {
    const answered = waiting.get(inReplyTo);
    waiting.delete(inReplyTo);
    if (answered !== undefined && body.case !== "lost") answered(body);
    else options.onOrder(body);
  });
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
    whenFlushed: (run) => {
      stream.write("", run);
    },
  };
}

function openStream({ socketPath, secret }: StreamOptions): ClientHttp2Stream {
  const session = connectHttp2(AUTHORITY, { createConnection: () => connect(socketPath) });
  // Whatever breaks the connection ends the stream, where it is noticed.
  session.on("error", () => undefined);
  return session.request({
    ":method": "POST",
    ":path": `/${WorkerService.typeName}/Work`,
    "content-type": "application/grpc+proto",
    te: "trailers",
    [WORKER_HEADER]: secret,
  });
}

/** However the stream ends, also by what is no message of ours, the host is not to be reached any more. */
function receive(
  stream: ClientHttp2Stream,
  { onEnd }: StreamOptions,
  take: (frame: WorkResponse) => void,
): void {
  const reader = new FrameReader(MESSAGE_BYTES_MAX);
  let ended = false;
  const end = (): void => {
    if (!ended) onEnd();
    ended = true;
  };
  stream.on("error", end).once("end", end).once("close", end);
  stream.on("data", (piece: Buffer) => {
    try {
      for (const bytes of reader.take(piece)) take(fromBinary(WorkResponseSchema, bytes));
    } catch {
      end();
    }
  });
}
