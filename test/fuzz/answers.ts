/** What a host said to a stream: one word for each way in which it refused or answered. */
import { connect as connectHttp2 } from "node:http2";
import type { IncomingHttpHeaders } from "node:http2";
import { setImmediate as turn } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { Reason, RejectionSchema } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { bodyOf, framesOf, silentPeer, soon, TYPE } from "./http2-bytes.ts";
import type { Frame } from "./http2-bytes.ts";
import type { Played } from "./player.ts";

export interface Answer {
  /** As `connect invalid_argument REQUEST_INVALID`, sorted, without repeats. */
  readonly words: readonly string[];
  /** Numbers under which the host says that its log has more. */
  readonly faults: readonly string[];
  /** Bodies of what was answered without a refusal, by stream. */
  readonly bodies: ReadonlyMap<number, Buffer>;
}

/** Streams beyond this were made up by a mutation. */
const STREAM_MAX = 63;
const TURNS_TO_SEND = 3;

export async function answerOf({ answer, closed }: Played): Promise<Answer> {
  const frames = framesOf(answer);
  const words = new Set(connectionWords(frames, closed));
  const faults: string[] = [];
  const bodies = new Map<number, Buffer>();
  const streams = frames.filter(({ type }) => type === TYPE.HEADERS).map(({ stream }) => stream);
  for (const [stream, { headers, trailers }] of await readHeads(answer, streams)) {
    const body = bodyOf(frames, stream);
    const { word, error } = readCall({ ...headers }, { ...trailers }, body);
    words.add(word);
    const fault = /internal error (err_\w+)/.exec(error?.message ?? "")?.[1];
    if (fault !== undefined) faults.push(fault);
    if (error === undefined) bodies.set(stream, body);
  }
  return { words: [...words].toSorted(), faults, bodies };
}

/** How streams and the whole connection ended. */
function connectionWords(frames: readonly Frame[], closed: boolean): readonly string[] {
  const said = frames.flatMap(({ type, payload }) => {
    if (type === TYPE.GOAWAY) return [`goaway ${payload.readUInt32BE(4)}`];
    return type === TYPE.RST_STREAM ? [`reset ${payload.readUInt32BE(0)}`] : [];
  });
  const isTold = said.some((word) => word.startsWith("goaway"));
  return closed && !isTold ? [...said, "closed"] : said;
}

interface Head {
  readonly headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
}

/** Headers are read by a client that asked for something else: the streams have the same numbers. */
async function readHeads(
  answer: Buffer,
  streams: readonly number[],
): Promise<ReadonlyMap<number, Head>> {
  const heads = new Map<number, Head>();
  const known = streams.filter((stream) => stream <= STREAM_MAX);
  if (known.length === 0) return heads;
  const given = silentPeer();
  const client = connectHttp2("http://localhost", { createConnection: () => given });
  let isConnected = false;
  client
    .on("error", () => undefined)
    .once("connect", () => {
      isConnected = true;
    });
  let heard = 0;
  for (let stream = 1; stream <= Math.max(...known); stream += 2) {
    const call = client.request({ ":path": "/" });
    call.on("error", () => undefined).resume();
    call.on("response", (headers) => {
      heard += 1;
      heads.set(call.id ?? 0, { headers, trailers: {} });
    });
    call.on("trailers", (trailers: IncomingHttpHeaders) => {
      heard += 1;
      const head = heads.get(call.id ?? 0);
      if (head !== undefined) head.trailers = trailers;
    });
  }
  // What was not asked yet cannot be answered: the questions must be out first.
  await soon(() => isConnected);
  for (let turns = 0; turns < TURNS_TO_SEND; turns += 1) await turn();
  given.push(answer);
  await soon(() => heard === known.length || client.destroyed);
  client.destroy();
  given.destroy();
  return heads;
}

interface Read {
  readonly word: string;
  readonly error?: ConnectError | undefined;
}

function readCall(
  headers: Readonly<Record<string, unknown>>,
  trailers: Readonly<Record<string, unknown>>,
  body: Buffer,
): Read {
  const status = Number(headers[":status"]);
  const type = textOf(headers["content-type"]);
  if (type.startsWith("application/grpc-web")) {
    return told("web", findTrailerError(webTrailers(body, headers)));
  }
  if (type.startsWith("application/grpc")) {
    return told("grpc", findTrailerError(fields({ ...headers, ...trailers })));
  }
  if (type.startsWith("application/connect+")) return told("connect", endOfStream(body));
  if (status === 200) return { word: "connect ok" };
  if (type !== "application/json") return { word: `http ${status}` };
  return told("connect", connectError(body));
}

function textOf(header: unknown): string {
  return typeof header === "string" ? header : "";
}

function told(protocol: string, error: ConnectError | undefined): Read {
  if (error === undefined) return { word: `${protocol} ok` };
  const reasons = error.findDetails(RejectionSchema).map(({ reason }) => reasonName(reason));
  return { word: [protocol, codeToString(error.code), ...reasons].join(" "), error };
}

export function reasonName(reason: Reason): string {
  return Object.entries(Reason).find(([, number]) => number === reason)?.[0] ?? String(reason);
}

function fields(headers: Readonly<Record<string, unknown>>): Headers {
  const own = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  return new Headers(own.map(([name, value]) => [name, String(value)]));
}

/** In the last envelope of the body, or in the headers of an answer without one. */
function webTrailers(body: Buffer, headers: Readonly<Record<string, unknown>>): Headers {
  const last = lastEnvelope(body);
  return last?.[0] === 0x80 ? trailerParse(last.subarray(5)) : fields(headers);
}

function endOfStream(body: Buffer): ConnectError | undefined {
  const last = lastEnvelope(body);
  if (last?.[0] !== 2) return undefined;
  const { error } = JSON.parse(last.subarray(5).toString()) as { readonly error?: unknown };
  return error === undefined ? undefined : connectError(Buffer.from(JSON.stringify(error)));
}

function connectError(body: Buffer): ConnectError {
  return errorFromJsonBytes(body, undefined, new ConnectError("unreadable", Code.Unknown));
}

function lastEnvelope(body: Buffer): Buffer | undefined {
  let last: Buffer | undefined;
  for (let at = 0; at + 5 <= body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if (end <= body.length) last = body.subarray(at, end);
    at = end;
  }
  return last;
}
