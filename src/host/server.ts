/**
 * The socket: HTTP/2 without TLS, one handler for Connect, gRPC and gRPC-Web.
 *
 * Whatever arrives on a connection can end that connection and nothing else,
 * and holds memory only up to the bounds in limits.ts.
 */
import { createServer } from "node:http2";
import type {
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  ServerHttp2Session,
} from "node:http2";
import type { Socket } from "node:net";
import { Code, ConnectError, createConnectRouter } from "@connectrpc/connect";
import type { ConnectRouter, HandlerContext, Interceptor } from "@connectrpc/connect";
import {
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { HostError } from "./errors.ts";
import { rejectionError } from "./handlers/rejections.ts";
import type { StreamHandler } from "./handlers/worker-service.ts";
import {
  CALL_DEADLINE_MS,
  CLIENT_REQUEST_BYTES_MAX,
  CONNECTIONS_MAX,
  FIRST_CALL_DEADLINE_MS,
  LISTEN_BACKLOG,
  RESPONSE_BYTES_MAX,
  STREAMS_PER_CONNECTION_MAX,
  WIRE_DEPTH_MAX,
} from "./limits.ts";

export interface ServerOptions {
  readonly socketPath: string;
  readonly routes: (router: ConnectRouter) => void;
  /** Streams that speak for themselves, by path. */
  readonly streams?: ReadonlyMap<string, StreamHandler>;
  readonly interceptors: Interceptor[];
  /** Runs on the headers of every call, before a byte of its body is read; throws to refuse. */
  readonly gate: (context: HandlerContext) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SocketServer {
  /** Binds the path, which must be free. May be called again when the socket's file is gone. */
  listen(): Promise<void>;
  /** Connections that are open now. */
  connections(): number;
  /** Ends all calls as HOST_STOPPING, waits for the connections to close, then closes them. */
  stop(graceMs: number): Promise<void>;
}

type NodeHandler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export function createSocketServer(options: ServerOptions): SocketServer {
  const down = new AbortController();
  const connections = new Connections(options.clock);
  const handler = nodeHandler(options, down.signal);
  let server: Http2Server | undefined;
  return {
    async listen() {
      server?.close();
      server = await bind(options.socketPath, handler, connections);
    },
    connections: () => connections.count(),
    async stop(graceMs) {
      server?.close();
      const refusal = new HostError("HOST_STOPPING", "the host is stopping; call again");
      down.abort(rejectionError(refusal));
      await connections.end(graceMs);
    },
  };
}

async function bind(
  socketPath: string,
  handler: NodeHandler,
  connections: Connections,
): Promise<Http2Server> {
  const settings = { maxConcurrentStreams: STREAMS_PER_CONNECTION_MAX, enablePush: false };
  const server = createServer({ settings }, handler);
  server.maxConnections = CONNECTIONS_MAX;
  connections.watch(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // The file takes its mode in the moment it appears; there is none in which others could connect.
    const mask = process.umask(0o177);
    server.listen({ path: socketPath, backlog: LISTEN_BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
    process.umask(mask);
  });
  return server;
}

function nodeHandler(options: ServerOptions, shutdownSignal: AbortSignal): NodeHandler {
  const router = createConnectRouter({
    shutdownSignal,
    interceptors: options.interceptors,
    requestGate: options.gate,
    acceptCompression: [],
    readMaxBytes: CLIENT_REQUEST_BYTES_MAX,
    writeMaxBytes: RESPONSE_BYTES_MAX,
    maxTimeoutMs: CALL_DEADLINE_MS,
    binaryOptions: { recursionLimit: WIRE_DEPTH_MAX },
    jsonOptions: { recursionLimit: WIRE_DEPTH_MAX },
  });
  options.routes(router);
  const byPath = new Map(router.handlers.map((one) => [one.requestPath, one]));
  return (request, response) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const stream = options.streams?.get(path);
    if (stream !== undefined) {
      stream(request, response, shutdownSignal);
      return;
    }
    const handler = byPath.get(path);
    if (handler === undefined) {
      // Every protocol of ours reads a 404 as "unimplemented".
      response.writeHead(404).end();
      return;
    }
    const call = callOf(request, response);
    if (call === undefined) {
      response.writeHead(400).end();
      return;
    }
    handler(call)
      .then((answer) => universalResponseToNodeResponse(answer, response))
      .catch((error: unknown) => {
        // The caller vanished in the middle of its answer. That is its good right.
        if (ConnectError.from(error).code === Code.Aborted) return;
        options.log.info("server.answer_undelivered", { method: handler.requestPath, error });
      });
  };
}

/** Nothing when the authority that the caller names makes no URL. */
function callOf(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): ReturnType<typeof universalRequestFromNodeRequest> | undefined {
  try {
    return universalRequestFromNodeRequest(request, response, undefined, undefined);
  } catch {
    return undefined;
  }
}

/**
 * A session that ends while a piece of its bytes is being read takes this process with it: the calls
 * in the rest of the piece reach no stream, and Node.js (22.23) ends the process when one of them has
 * a body. Whoever writes a wrong length can cause it, so a session ends when the piece has been read.
 */
function endBetweenReads(session: ServerHttp2Session): void {
  const destroy = session.destroy.bind(session);
  session.destroy = (error, code) => {
    setImmediate(() => destroy(error, code));
  };
}

/** Open connections, so that a stop can end them and a flood cannot keep them. */
class Connections {
  readonly #clock: Clock;
  readonly #sockets = new Set<Socket>();
  #onEmpty: (() => void) | undefined;
  readonly #endSessions = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(): number {
    return this.#sockets.size;
  }

  watch(server: Http2Server): void {
    server.on("connection", (socket: Socket) => this.#add(socket));
    server.on("session", (session) => {
      endBetweenReads(session);
      const deadline = this.#clock.after(FIRST_CALL_DEADLINE_MS, () => session.destroy());
      const end = (): void => session.close();
      this.#endSessions.add(end);
      session.once("stream", () => deadline.cancel());
      session.once("close", () => {
        deadline.cancel();
        this.#endSessions.delete(end);
      });
      // An error of one session is told to that session's peer by the protocol.
      session.on("error", () => undefined);
    });
    server.on("sessionError", () => undefined);
  }

  async end(graceMs: number): Promise<void> {
    for (const end of this.#endSessions) end();
    if (this.#sockets.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(graceMs, () => {
        for (const socket of this.#sockets) socket.destroy();
      });
      this.#onEmpty = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#onEmpty?.();
    });
  }
}
