/** What becomes of one frame of a worker's stream. */
import type { ClientHttp2Stream } from "node:http2";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { WorkRequestSchema } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkRequest } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { framed } from "../../src/platform/message-frames.ts";
import { Choice } from "./choice.ts";
import { changeMessage } from "./wire.ts";

export interface Order {
  /** Which frame of the worker, counted from 1. */
  readonly frame: number;
  readonly kind: Kind;
  readonly seed: number;
}

/** Beside the file with an order: where it is while its round goes on, and what came of it. */
export function filesOf(orders: string): { readonly taken: string; readonly report: string } {
  return { taken: `${orders}.taken`, report: `${orders}.report` };
}

export interface Sabotaged {
  readonly pieces: readonly Uint8Array[];
  /** It claims a right that its worker does not have: whatever it proposes must not come true. */
  readonly forged: boolean;
  readonly number: bigint;
  readonly after?: (stream: ClientHttp2Stream) => void;
}

type Act = (frame: Buffer, choice: Choice) => Partial<Sabotaged>;

const HEAD_BYTES = 5;
const RESET = 8;

const ACTS = {
  fields: (frame, choice) => ({
    pieces: [framed(changeMessage(frame.subarray(HEAD_BYTES), choice))],
  }),
  bits: (frame, choice) => {
    const copy = Buffer.from(frame);
    const at = choice.below(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << choice.below(8));
    return { pieces: [copy] };
  },
  length: (frame, choice) => {
    const copy = Buffer.from(frame);
    copy.writeUInt32BE(Number(choice.edge(32)), 1);
    return { pieces: [copy] };
  },
  flag: (frame, choice) => ({ pieces: [Buffer.of(1 + choice.below(255)), frame.subarray(1)] }),
  twice: (frame) => ({ pieces: [frame, frame] }),
  noise: (frame, choice) => ({ pieces: [frame, choice.bytes(1 + choice.below(64))] }),
  nothing: () => ({ pieces: [] }),
  slowly: (frame) => ({ pieces: Array.from(frame, (byte) => Buffer.of(byte)) }),
  ends: (frame, choice) => ({
    pieces: [frame.subarray(0, choice.below(frame.length + 1))],
    after: (stream: ClientHttp2Stream) => void stream.end(),
  }),
  resets: (frame, choice) => ({
    pieces: [frame.subarray(0, choice.below(frame.length + 1))],
    after: (stream: ClientHttp2Stream) => stream.close(choice.below(RESET)),
  }),
  vanishes: (frame, choice) => ({
    pieces: [frame.subarray(0, choice.below(frame.length + 1))],
    after: (stream: ClientHttp2Stream) => stream.session?.destroy(),
  }),
  forges: (frame, choice) => forged(frame, choice),
} as const satisfies Readonly<Record<string, Act>>;

export type Kind = keyof typeof ACTS;
/** What the names of an object are, its type says. */
export const KINDS = Object.keys(ACTS) as readonly Kind[];

export function sabotaged(frame: Buffer, { kind, seed }: Order): Sabotaged {
  const { number } = fromBinary(WorkRequestSchema, frame.subarray(HEAD_BYTES));
  return { pieces: [frame], forged: false, number, ...ACTS[kind](frame, new Choice(seed)) };
}

/** A right that is another's: in the run, the generation, the worker, the place or the epoch. */
function forged(frame: Buffer, choice: Choice): Partial<Sabotaged> {
  const request = fromBinary(WorkRequestSchema, frame.subarray(HEAD_BYTES));
  const forgeries = FORGERIES.filter((one) => one.fits(request));
  if (forgeries.length === 0) return {};
  choice.pick(forgeries).forge(request);
  return { pieces: [framed(toBinary(WorkRequestSchema, request))], forged: true };
}

interface Forgery {
  fits(request: WorkRequest): boolean;
  forge(request: WorkRequest): void;
}

const FORGERIES: readonly Forgery[] = [
  claimed((claim) => {
    claim.runId = "run_0000000000000000000000";
  }),
  claimed((claim) => {
    claim.workerId = "wrk_0000000000000000000000";
  }),
  claimed((claim) => {
    claim.generation += 1;
  }),
  claimed((_claim, request) => {
    delete request.claim;
  }),
  {
    fits: ({ attemptId }) => attemptId !== "",
    forge: (request) => {
      request.attemptId = `${request.attemptId}x`;
    },
  },
  {
    fits: ({ attemptId }) => attemptId !== "",
    forge: (request) => {
      request.expectedBoundary += 1n;
    },
  },
  {
    fits: () => true,
    forge: (request) => {
      request.workerEpoch += 1n;
    },
  },
];

type Claimed = NonNullable<WorkRequest["claim"]>;

function claimed(change: (claim: Claimed, request: WorkRequest) => void): Forgery {
  return {
    fits: ({ claim }) => claim !== undefined,
    forge: (request) => {
      if (request.claim !== undefined) change(request.claim, request);
    },
  };
}
