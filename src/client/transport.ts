/** The wire to a host: HTTP/2 without TLS over its Unix socket. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { packageVersion } from "../platform/package-info.ts";

/** Tells the host which package version its peer is of. */
export const VERSION_HEADER = "x-pi-workflows-version";

/** Above the largest value a run may hold, with room for its encoding. */
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
/** Values may be nested 500 levels deep, each of which takes three on the wire. */
const DEPTH_MAX = 2_000;
/** A socket has no host name, but HTTP/2 wants an authority. */
const AUTHORITY = "http://localhost";

export interface HostLink {
  readonly transport: Transport;
  /** Ends the connection and every call on it. */
  close(): void;
}

export interface HostLinkOptions {
  readonly socketPath: string;
  /** A connected socket to begin with, so that the probe of a host need not be wasted. */
  readonly socket?: Socket;
  /** A host that answers no PING for as long is taken for dead; absent means never. */
  readonly pingMs?: number;
}

/** A link that connects when it is first used, and again when its connection broke. */
export function openHostLink(options: HostLinkOptions): HostLink {
  const { socketPath, socket, pingMs } = options;
  let probed = socket;
  const createConnection = (): Socket => {
    const first = probed;
    probed = undefined;
    return first === undefined || first.destroyed ? connect(socketPath) : first;
  };
  const pings = pingMs === undefined ? {} : { pingIntervalMs: pingMs, pingTimeoutMs: pingMs };
  const sessionManager = new Http2SessionManager(AUTHORITY, pings, { createConnection });
  const transport = createConnectTransport({
    baseUrl: AUTHORITY,
    httpVersion: "2",
    sessionManager,
    useBinaryFormat: true,
    // On a local socket compression costs more than the bytes it saves.
    acceptCompression: [],
    readMaxBytes: MESSAGE_BYTES_MAX,
    writeMaxBytes: MESSAGE_BYTES_MAX,
    binaryOptions: { recursionLimit: DEPTH_MAX },
    interceptors: [tellVersion, repeatRefused],
  });
  return {
    transport,
    close: () => {
      probed?.destroy();
      sessionManager.abort();
    },
  };
}

const tellVersion: Interceptor = (next) => (request) => {
  request.header.set(VERSION_HEADER, packageVersion());
  return next(request);
};

/** Refused so often, a call meets more than a first burst. */
const REFUSALS_MAX = 100;

/**
 * A host takes so many streams of one connection, and says so when that opens.
 * Of a burst sent before it was heard it refuses the rest unread, so that those
 * may be sent again; from then on they wait for each other.
 */
const repeatRefused: Interceptor = (next) => async (request) => {
  for (let refusals = 1; ; refusals += 1) {
    try {
      return await next(request);
    } catch (error) {
      if (request.stream || !isRefusedStream(error) || refusals === REFUSALS_MAX) throw error;
      await turn();
    }
  }
};

function isRefusedStream(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message.includes("NGHTTP2_REFUSED_STREAM");
}
