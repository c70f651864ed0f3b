/** The socket's server with two services behind it, and clients of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import type { Client } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { openHostLink } from "../../src/client/transport.ts";
import {
  GetStatusResponseSchema,
  HostService,
} from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import {
  RunService,
  WatchRunsResponseSchema,
} from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { rejections } from "../../src/host/handlers/rejections.ts";
import { createSocketServer } from "../../src/host/server.ts";
import type { ServerOptions, SocketServer } from "../../src/host/server.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { memoryLog } from "./memory-log.ts";

export interface Served {
  readonly server: SocketServer;
  readonly path: string;
  readonly host: Client<typeof HostService>;
  readonly runs: Client<typeof RunService>;
  /** Resolves with the reason once the handler of an open watch was told to end. */
  readonly watchEnded: Promise<unknown>;
}

export async function serve(options: Partial<ServerOptions> = {}): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "s-"));
  const path = join(folder, "host.sock");
  const ended = Promise.withResolvers<unknown>();
  const server = createSocketServer({
    socketPath: path,
    clock: systemClock,
    log: memoryLog().log,
    gate: () => undefined,
    interceptors: [rejections(() => "err_1")],
    routes: (router) => {
      router.service(HostService, {
        getStatus: () => create(GetStatusResponseSchema, { state: "serving" }),
        backup: () => {
          throw new Error("a fault of ours");
        },
      });
      router.service(RunService, {
        async *watchRuns(_request, { signal }) {
          yield create(WatchRunsResponseSchema, {});
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          ended.resolve(signal.reason);
          throw signal.reason;
        },
      });
    },
    ...options,
  });
  await server.listen();
  const link = openHostLink({ socketPath: path });
  onTestFinished(async () => {
    link.close();
    await server.stop(100);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    server,
    path,
    host: createClient(HostService, link.transport),
    runs: createClient(RunService, link.transport),
    watchEnded: ended.promise,
  };
}

/** Sends bytes on a connection of their own and waits until the host has closed it. */
export async function sendAndWait(path: string, bytes: string | Buffer): Promise<Buffer> {
  const socket = connect(path);
  const answer: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => answer.push(chunk));
  socket.write(bytes);
  await closed(socket);
  return Buffer.concat(answer);
}

/** A connection that broke is closed too; what breaks it is not the question. */
export async function closed(socket: Socket): Promise<void> {
  socket.on("error", () => undefined);
  socket.resume();
  await new Promise<void>((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}
