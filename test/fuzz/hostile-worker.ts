/**
 * A real worker with a saboteur at its stream: one of its frames leaves it changed.
 * It is the program of a fuzzed host's workers; what to change is in a file that the
 * first worker to come takes away, so that those after it are sound; a worker that still has
 * the order when the round is over is sound as well.
 */
import { appendFileSync, existsSync, readFileSync, renameSync } from "node:fs";
import http2 from "node:http2";
import type { ClientHttp2Stream } from "node:http2";
import { createRequire } from "node:module";
import { fromBinary } from "@bufbuild/protobuf";
import { WorkResponseSchema } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { ClaimLoss, Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import type { WorkResponse } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { FrameReader } from "../../src/platform/message-frames.ts";
import { filesOf, sabotaged } from "./sabotage.ts";
import type { Order } from "./sabotage.ts";

const ORDERS = process.env["FUZZ_ORDERS"] ?? "";
const { taken: TAKEN, report: REPORT } = filesOf(ORDERS);
const ANSWER_BYTES_MAX = 32 * 1_048_576;
/** Answers by which a proposal has come true. */
const GRANTED = new Set(["ack", "begin", "effect"]);

function main(): void {
  const order = takeOrder();
  if (order !== undefined) {
    const connect = http2.connect;
    const patched = (...args: Parameters<typeof connect>): ReturnType<typeof connect> => {
      const session = connect(...args);
      const request = session.request.bind(session);
      session.request = (...how) => watched(request(...how), order);
      return session;
    };
    Object.assign(http2, { connect: patched });
  }
  const program = process.env["FUZZ_WORKER"] ?? "";
  createRequire(program)(program);
}

function takeOrder(): Order | undefined {
  try {
    renameSync(ORDERS, TAKEN);
  } catch {
    return undefined;
  }
  // Written by the fuzzer.
  return JSON.parse(readFileSync(TAKEN, "utf8")) as Order;
}

function report(word: string): void {
  appendFileSync(REPORT, `${word}\n`);
}

function watched(stream: ClientHttp2Stream, order: Order): ClientHttp2Stream {
  const write = stream.write.bind(stream);
  let count = 0;
  let sent: { readonly forged: boolean; readonly number: bigint } | undefined;
  const tampering = (chunk: unknown, ...rest: unknown[]): boolean => {
    count += chunk instanceof Uint8Array && chunk.length > 0 ? 1 : 0;
    const isDue = count === order.frame && sent === undefined && existsSync(TAKEN);
    if (!isDue || !(chunk instanceof Uint8Array)) {
      return Reflect.apply(write, stream, [chunk, ...rest]) as boolean;
    }
    const { pieces, forged, number, after } = sabotaged(Buffer.from(chunk), order);
    sent = { forged, number };
    report("sabotaged");
    for (const piece of pieces) write(piece);
    after?.(stream);
    return true;
  };
  Object.assign(stream, { write: tampering });
  const reader = new FrameReader(ANSWER_BYTES_MAX);
  stream.on("data", (piece: Buffer) => {
    for (const bytes of reader.take(piece)) {
      const answer = fromBinary(WorkResponseSchema, bytes);
      if (sent === undefined) continue;
      report(wordOf(answer));
      const isGranted = answer.inReplyTo === sent.number && GRANTED.has(answer.body.case ?? "");
      if (isGranted && sent.forged) report(`WRONG ${answer.body.case}`);
    }
  });
  stream.on("trailers", (trailers: http2.IncomingHttpHeaders) =>
    report(`status ${String(trailers["grpc-status"])}`),
  );
  return stream;
}

function wordOf({ body }: WorkResponse): string {
  if (body.case === "refused") return `refused ${nameOf(Reason, body.value.reason)}`;
  if (body.case === "lost") return `lost ${nameOf(ClaimLoss, body.value.loss)}`;
  return body.case ?? "nothing";
}

function nameOf(names: Readonly<Record<string, number>>, number: number): string {
  return Object.entries(names).find(([, one]) => one === number)?.[0] ?? String(number);
}

main();
