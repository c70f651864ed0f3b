/** The worker's end of its stream, against a server that only knows frames. */
import { createServer } from "node:http2";
import type { Http2Server } from "node:http2";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { StopReason } from "../../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import { WorkResponseSchema } from "../../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { framed } from "../../../src/platform/message-frames.ts";
import { openHostStream } from "../../../src/worker/host-link.ts";
import { temporaryFolder } from "../../support/test-store.ts";

type Answer = MessageInitShape<typeof WorkResponseSchema>;

/** Answers whatever comes with all these frames, in one piece. */
async function answering(frames: readonly Answer[]): Promise<string> {
  const bytes = frames.map((one) =>
    framed(toBinary(WorkResponseSchema, create(WorkResponseSchema, one))),
  );
  const server: Http2Server = createServer((request, response) => {
    response.writeHead(200);
    request.stream.on("error", () => undefined);
    request.stream.once("data", () => response.write(Buffer.concat(bytes)));
  });
  const socketPath = join(temporaryFolder(), "s");
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  server.on("session", (session) => onTestFinished(() => session.destroy()));
  onTestFinished(() => void server.close());
  return socketPath;
}

test("a turn of the loop, and a stop that came along, are there before the answer", async () => {
  const stop = { reason: StopReason.PAUSE, graceMs: 1 };
  const socketPath = await answering([
    { inReplyTo: 1n, body: { case: "ack", value: { boundary: 2n } } },
    { body: { case: "stop", value: stop } },
  ]);
  const heard: (string | undefined)[] = [];
  const stream = openHostStream({
    socketPath,
    secret: "secret",
    workerEpoch: 1,
    onOrder: (order) => heard.push(order.case),
    onEnd: () => undefined,
  });
  const asked = stream.ask({ case: "ready", value: {} });
  setImmediate(() => heard.push("turn"));
  heard.push((await asked).case);
  expect(heard).toEqual(["turn", "stop", "ack"]);
});
