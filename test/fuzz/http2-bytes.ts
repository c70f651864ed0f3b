/** HTTP/2 as bytes: frames are taken apart and put together without any library in between. */

import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
  /** What the length field says, where that is a lie. */
  readonly length?: number;
}

export const TYPE = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const FLAG = { END_STREAM: 1, ACK: 1, END_HEADERS: 4 } as const;

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

const HEAD_BYTES = 9;

export function frameBytes({ type, flags, stream, payload, length }: Frame): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE((length ?? payload.length) & 0xffffff, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

/** The whole frames of a stream of bytes; what is behind the last whole one is left out. */
export function framesOf(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  while (at + HEAD_BYTES <= bytes.length) {
    const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    frames.push({
      type: bytes[at + 3] ?? 0,
      flags: bytes[at + 4] ?? 0,
      stream: bytes.readUInt32BE(at + 5) & 0x7fffffff,
      payload: bytes.subarray(at + HEAD_BYTES, end),
    });
    at = end;
  }
  return frames;
}

export function connectionBytes(frames: readonly Frame[]): Buffer {
  return Buffer.concat([PREFACE, ...frames.map(frameBytes)]);
}

export type Headers = readonly (readonly [string, string])[];

/** Header fields as HPACK literals that no table has to know. */
export function headerBlock(headers: Headers): Buffer {
  const fields = headers.map(([name, value]) =>
    Buffer.concat([Buffer.of(0), literal(name), literal(value)]),
  );
  return Buffer.concat(fields);
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** An integer with a prefix of seven bits. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** All that was said in the body of one stream. */
export function bodyOf(frames: readonly Frame[], stream: number): Buffer {
  const own = frames.filter((one) => one.type === TYPE.DATA && one.stream === stream);
  return Buffer.concat(own.map(({ payload }) => payload));
}

/** The other end of a connection that exists only to have bytes pushed into it. */
export function silentPeer(): Duplex {
  return new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
}

/** Events come within a few turns of the loop, or never. */
const TURNS_MAX = 40;

export async function soon(happened: () => boolean): Promise<void> {
  for (let count = 0; count < TURNS_MAX && !happened(); count += 1) await turn();
}
