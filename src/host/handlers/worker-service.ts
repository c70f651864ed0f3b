/** WorkerService: one stream per worker for its whole life. */
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  WorkRequest,
  WorkResponse,
  WorkerService,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { HostError } from "../errors.ts";
import type { SupervisedWorker } from "../supervisor/supervised-worker.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { FrameQueue } from "./frame-queue.ts";
import { until } from "./until.ts";

/** Carries the secret from a worker's launch channel. */
export const WORKER_HEADER = "x-pi-workflows-worker";

export type WorkerDoor = Pick<Supervisor, "authenticate" | "connect" | "receive" | "disconnected">;

/** The worker that a call's header proves to be, refused before its body is read. */
export function requireWorker(
  supervisor: Pick<Supervisor, "authenticate">,
  headers: Headers,
): SupervisedWorker {
  const worker = supervisor.authenticate(headers.get(WORKER_HEADER) ?? undefined);
  if (worker !== undefined) return worker;
  throw new HostError(
    "WORKER_UNKNOWN",
    "only the host's own workers may call this; the secret is missing or wrong",
  );
}

export function workerService(supervisor: WorkerDoor): ServiceImpl<typeof WorkerService> {
  return {
    work(requests: AsyncIterable<WorkRequest>, context: HandlerContext) {
      const worker = requireWorker(supervisor, context.requestHeader);
      return converse(supervisor, worker, { requests, signal: context.signal });
    },
  };
}

/**
 * Both directions at once: frames are handed over as they come, without waiting
 * for what becomes of the ones before; answers go out as they are given.
 */
async function* converse(
  supervisor: WorkerDoor,
  worker: SupervisedWorker,
  { requests, signal }: { requests: AsyncIterable<WorkRequest>; signal: AbortSignal },
): AsyncGenerator<WorkResponse> {
  const answers = new FrameQueue<WorkResponse>(() => worker.kill());
  const closed = new AbortController();
  supervisor.connect(worker, {
    send: (frame) => answers.push(frame),
    drained: () => answers.drained(),
    close: () => {
      closed.abort();
      answers.close();
    },
  });
  const reading = read(requests, AbortSignal.any([signal, closed.signal]), (frame) => {
    supervisor.receive(worker, frame);
  }).finally(() => answers.close());
  try {
    yield* answers.read();
  } finally {
    closed.abort();
    supervisor.disconnected(worker);
    await reading;
  }
}

/**
 * A stream that broke, was malformed or was closed ends alike: its worker is gone.
 * A fault of ours while a frame is taken is none of these, and is thrown.
 */
async function read(
  requests: AsyncIterable<WorkRequest>,
  signal: AbortSignal,
  take: (frame: WorkRequest) => void,
): Promise<void> {
  const frames = until(requests, signal);
  for (;;) {
    let next: IteratorResult<WorkRequest>;
    try {
      next = await frames.next();
    } catch {
      // The protocol has told the peer what is wrong; the supervisor ends the process.
      return;
    }
    if (next.done === true) return;
    take(next.value);
  }
}
