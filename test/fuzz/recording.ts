/** What real clients put on the socket: byte for byte, and taken apart into calls. */
import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { connect, createServer } from "node:net";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ask, ASKS, PROTOCOLS } from "./calls.ts";
import type { Facts } from "./calls.ts";
import {
  bodyOf,
  connectionBytes,
  framesOf,
  PREFACE,
  silentPeer,
  soon,
  TYPE,
} from "./http2-bytes.ts";
import type { Frame, Headers } from "./http2-bytes.ts";
import type { Target } from "./target.ts";

export interface Call {
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface Recording {
  /** Protocol and call, as `grpc startRun`. */
  readonly name: string;
  readonly frames: readonly Frame[];
  readonly calls: readonly Call[];
}

/** Every call on a connection of its own; in four rounds each was made in every protocol. */
export async function record(
  target: Target,
  facts: Facts,
  round: number,
): Promise<readonly Recording[]> {
  const tap = await listen(join(target.folder, "tap.sock"), target.socket);
  const recordings: Recording[] = [];
  try {
    for (const [index, name] of Object.keys(ASKS).entries()) {
      const protocol = PROTOCOLS[(index + round) % PROTOCOLS.length] ?? "connect";
      await ask(name, { protocol, facts, socketPath: tap.path });
      const bytes = await tap.take();
      const frames = framesOf(bytes.subarray(PREFACE.length)).filter(staysOpen);
      recordings.push({ name: `${protocol} ${name}`, frames, calls: await callsOf(frames) });
    }
  } finally {
    tap.close();
  }
  return recordings;
}

/** A recorded client hangs up when it is done; what is played must stay for its answer. */
function staysOpen({ type }: Frame): boolean {
  return type !== TYPE.GOAWAY && type !== TYPE.RST_STREAM;
}

interface Tap {
  readonly path: string;
  /** All that the last client sent, once it has gone. */
  take(): Promise<Buffer>;
  close(): void;
}

async function listen(path: string, host: string): Promise<Tap> {
  let last: Promise<Buffer> | undefined;
  const server = createServer((client) => {
    const pieces: Buffer[] = [];
    const beyond = connect(host);
    client.on("data", (piece: Buffer) => pieces.push(piece));
    for (const socket of [client, beyond]) socket.on("error", () => socket.destroy());
    last = new Promise((resolve) => {
      client.once("close", () => resolve(Buffer.concat(pieces)));
    });
    client.pipe(beyond).pipe(client);
  });
  server.listen(path);
  await once(server, "listening");
  return {
    path,
    take: async () => (await last) ?? Buffer.alloc(0),
    close() {
      server.close();
      rmSync(path, { force: true });
    },
  };
}

/** HTTP/2 itself says which headers a recording has; bodies are what its frames hold. */
async function callsOf(frames: readonly Frame[]): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const server = createHttp2Server();
  server.on("sessionError", () => undefined);
  server.on("stream", ({ id }, _headers, _flags, raw: readonly string[]) => {
    const headers = raw.flatMap((name, at): Headers => {
      const value = raw[at + 1];
      return at % 2 === 0 && value !== undefined ? [[name, value]] : [];
    });
    calls.push({ headers, body: bodyOf(frames, id ?? 0) });
  });
  const given = silentPeer();
  server.emit("connection", given);
  given.push(connectionBytes(frames));
  const count = frames.filter(({ type }) => type === TYPE.HEADERS).length;
  await soon(() => calls.length === count);
  given.destroy();
  return calls;
}
