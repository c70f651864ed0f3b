import { create } from "@bufbuild/protobuf";
import { WorkRequestSchema } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkRequest } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkerChannel } from "../../src/host/supervisor/supervised-worker.ts";

/** A frame as a worker sends it, with nothing in it. */
export function frame(head: { readonly number: bigint; readonly epoch: number }): WorkRequest {
  return create(WorkRequestSchema, { number: head.number, workerEpoch: BigInt(head.epoch) });
}

/** A channel that only remembers whether it was closed. */
export function channel(): WorkerChannel & { readonly closed: boolean } {
  let closed = false;
  return {
    send: () => undefined,
    close: () => {
      closed = true;
    },
    get closed() {
      return closed;
    },
  };
}
