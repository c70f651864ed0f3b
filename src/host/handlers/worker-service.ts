/**
 * WorkerService: one stream per worker for its whole life.
 *
 * It speaks gRPC without a framework in between: each transition of each run
 * passes here twice, and takes half the time so.
 */
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from "node:http2";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import {
  WorkerService,
  WorkRequestSchema,
  WorkResponseSchema,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type {
  WorkRequest,
  WorkResponse,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { FrameReader, framed } from "../../platform/message-frames.ts";
import { HostError } from "../errors.ts";
import { WORKER_MESSAGE_BYTES_MAX } from "../limits.ts";
import type { SupervisedWorker, WorkerChannel } from "../supervisor/supervised-worker.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { rejectionError } from "./rejections.ts";
import type { FaultLog } from "./rejections.ts";

/** Carries the secret from a worker's launch channel. */
export const WORKER_HEADER = "x-pi-workflows-worker";

export const WORK_PATH = `/${WorkerService.typeName}/Work`;

const CONTENT_TYPE = "application/grpc+proto";
const STATUS_OK = 0;
/** Frames that no worker of ours leaves unread: one that does is ended, and memory stays flat. */
const FRAMES_UNREAD_MAX = 10_000;

export type WorkerDoor = Pick<Supervisor, "authenticate" | "connect" | "receive" | "disconnected">;

export type StreamHandler = (
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  stopping: AbortSignal,
) => void;

/** Opens the stream of whoever proves to be a worker; nothing of anybody else's is read. */
export function workerStreams(door: WorkerDoor, logFault: FaultLog): StreamHandler {
  return (request, response, stopping) => {
    const secret = request.headers[WORKER_HEADER];
    const worker = door.authenticate(typeof secret === "string" ? secret : undefined);
    if (worker === undefined) refuse(response);
    else new WorkerStream({ door, worker, logFault }, response).open(stopping);
  };
}

function refuse(response: Http2ServerResponse): void {
  const message = "only the host's own workers may call this; the secret is missing or wrong";
  const { code } = rejectionError(new HostError("WORKER_UNKNOWN", message));
  response.writeHead(200, { "content-type": CONTENT_TYPE, ...statusOf(code, message) });
  response.end();
}

function statusOf(code: number, message: string): Readonly<Record<string, string>> {
  return { "grpc-status": String(code), "grpc-message": encodeURIComponent(message) };
}

interface StreamParts {
  readonly door: WorkerDoor;
  readonly worker: SupervisedWorker;
  readonly logFault: FaultLog;
}

/** Frames are handed over as they come; answers go out as they are given. */
class WorkerStream implements WorkerChannel {
  readonly #parts: StreamParts;
  readonly #response: Http2ServerResponse;
  readonly #stream: ServerHttp2Stream;
  readonly #reader = new FrameReader(WORKER_MESSAGE_BYTES_MAX);
  #unread = 0;
  #closed = false;
  #onDrained: (() => void)[] = [];

  constructor(parts: StreamParts, response: Http2ServerResponse) {
    this.#parts = parts;
    this.#response = response;
    this.#stream = response.stream;
  }

  open(stopping: AbortSignal): void {
    const { door, worker } = this.#parts;
    const close = (): void => this.close();
    this.#response.writeHead(200, { "content-type": CONTENT_TYPE });
    // A stream that broke, was reset or came to its end: its worker is gone.
    this.#stream.on("error", () => undefined);
    this.#stream.once("end", close);
    this.#stream.once("close", () => {
      stopping.removeEventListener("abort", close);
      this.close();
    });
    stopping.addEventListener("abort", close, { once: true });
    door.connect(worker, this);
    this.#stream.on("data", (piece: Buffer) => this.#take(piece));
  }

  send(frame: WorkResponse): void {
    if (this.#closed) return;
    this.#unread += 1;
    this.#gather();
    this.#stream.write(framed(toBinary(WorkResponseSchema, frame)), () => this.#taken());
    if (this.#unread <= FRAMES_UNREAD_MAX) return;
    this.close();
    this.#parts.worker.kill();
  }

  /** What is sent without a pause leaves as one piece, and arrives as one. */
  #gather(): void {
    if (this.#stream.writableCorked > 0) return;
    this.#stream.cork();
    queueMicrotask(() => this.#stream.uncork());
  }

  async drained(): Promise<void> {
    if (this.#closed || this.#unread === 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained.push(resolve);
    });
  }

  close(): void {
    this.#end(STATUS_OK, "");
  }

  #taken(): void {
    this.#unread -= 1;
    if (this.#unread === 0) this.#tellDrained();
  }

  #tellDrained(): void {
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  #take(piece: Buffer): void {
    try {
      for (const bytes of this.#reader.take(piece)) {
        if (this.#closed) return;
        this.#hand(fromBinary(WorkRequestSchema, bytes));
      }
    } catch {
      this.#end(Code.InvalidArgument, "malformed frame");
    }
  }

  /** A fault of ours is told by its number; it is no fault of the frame. */
  #hand(frame: WorkRequest): void {
    const { door, worker, logFault } = this.#parts;
    try {
      door.receive(worker, frame);
    } catch (error) {
      const id = logFault(error, WORK_PATH);
      this.#end(Code.Internal, `internal error ${id}; the host's log has more under it`);
    }
  }

  /** What was sent before still goes out. */
  #end(code: number, message: string): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#stream.destroyed) {
      // The worker's half need not end for the stream to do so.
      this.#stream.once("wantTrailers", () => setImmediate(() => this.#stream.close()));
      this.#response.addTrailers(statusOf(code, message));
      this.#response.end();
    }
    this.#tellDrained();
    // In a later turn: whoever closed it has not finished what it was doing.
    setImmediate(() => this.#parts.door.disconnected(this.#parts.worker));
  }
}
