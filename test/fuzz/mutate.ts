/** Wrong streams from right ones, at each level: bytes, frames, headers, messages and fields. */
import type { Choice } from "./choice.ts";
import { connectionBytes, FLAG, headerBlock, TYPE } from "./http2-bytes.ts";
import type { Frame, Headers } from "./http2-bytes.ts";
import { changeMessage } from "./wire.ts";
import type { Call, Recording } from "./recording.ts";

const SETTINGS: Frame = { type: TYPE.SETTINGS, flags: 0, stream: 0, payload: Buffer.alloc(0) };
const ENVELOPE_BYTES = 5;

/** One wrong stream; the same for the same choices. */
export function wrongStream(recordings: readonly Recording[], choice: Choice): Buffer {
  const recording = choice.pick(recordings);
  const level = choice.below(10);
  if (level < 2) return changeBytes(connectionBytes(recording.frames), choice);
  if (level < 4)
    return connectionBytes(changeFrames(recording.frames, choice.pick(recordings), choice));
  const calls = [recording, ...(choice.chance(0.3) ? [choice.pick(recordings)] : [])];
  return built(calls.flatMap((one) => one.calls).map((call) => changeCall(call, level, choice)));
}

/** A connection that says just this, with headers that no table has to know. */
export function built(calls: readonly Call[]): Buffer {
  const frames = calls.flatMap(({ headers, body }, index): readonly Frame[] => {
    const stream = 2 * index + 1;
    return [
      { type: TYPE.HEADERS, flags: FLAG.END_HEADERS, stream, payload: headerBlock(headers) },
      { type: TYPE.DATA, flags: FLAG.END_STREAM, stream, payload: body },
    ];
  });
  return connectionBytes([SETTINGS, ...frames]);
}

function changeBytes(bytes: Buffer, choice: Choice): Buffer {
  let changed = bytes;
  for (let count = 1 + choice.below(4); count > 0 && changed.length > 0; count -= 1) {
    changed = choice.pick(BYTE_CHANGES)(changed, choice.below(changed.length), choice);
  }
  return changed;
}

type ByteChange = (bytes: Buffer, at: number, choice: Choice) => Buffer;

const BYTE_CHANGES: readonly ByteChange[] = [
  (bytes, at, choice) => withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << choice.below(8))),
  (bytes, at, choice) => withByte(bytes, at, choice.pick([0, 1, 127, 128, 255])),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => bytes.subarray(at),
  (bytes, at, choice) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(choice.below(at + 1))]),
  (bytes, at, choice) =>
    Buffer.concat([bytes.subarray(0, at), choice.bytes(1 + choice.below(16)), bytes.subarray(at)]),
];

function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
}

function changeFrames(
  frames: readonly Frame[],
  other: Recording,
  choice: Choice,
): readonly Frame[] {
  let changed = frames;
  for (let count = 1 + choice.below(3); count > 0 && changed.length > 0; count -= 1) {
    changed = choice.pick(FRAME_CHANGES)(changed, choice.below(changed.length), { other, choice });
  }
  return changed;
}

type FrameChange = (
  frames: readonly Frame[],
  at: number,
  by: { readonly other: Recording; readonly choice: Choice },
) => readonly Frame[];

const FRAME_CHANGES: readonly FrameChange[] = [
  (frames, at) => frames.toSpliced(at, 1),
  (frames, at) => frames.toSpliced(at, 0, ...frames.slice(at, at + 1)),
  (frames, at) => [...frames.slice(at), ...frames.slice(0, at)],
  (frames, at, { other }) => [...frames.slice(0, at), ...other.frames.slice(at)],
  (frames, at, { choice }) => withFrame(frames, at, { type: choice.below(12) }),
  (frames, at, { choice }) => withFrame(frames, at, { flags: choice.below(256) }),
  (frames, at, { choice }) => withFrame(frames, at, { stream: Number(choice.edge(32)) }),
  (frames, at, { choice }) => withFrame(frames, at, { length: Number(choice.edge(24)) }),
  (frames, at, { choice }) =>
    withFrame(frames, at, { payload: changeBytes(frames[at]?.payload ?? Buffer.alloc(0), choice) }),
  (frames, at, { choice }) => frames.toSpliced(at, 0, strayFrame(choice)),
];

function withFrame(frames: readonly Frame[], at: number, change: Partial<Frame>): readonly Frame[] {
  return frames.map((frame, index) => (index === at ? { ...frame, ...change } : frame));
}

/** A frame of any type where none was asked for. */
function strayFrame(choice: Choice): Frame {
  const stream = choice.pick([0, 1, 2, 3, 0x7fffffff]);
  const payload = choice.bytes(choice.pick([0, 1, 4, 5, 6, 8, 36]));
  return { type: choice.below(10), flags: choice.below(64), stream, payload };
}

function changeCall(call: Call, level: number, choice: Choice): Call {
  if (level === 4) return { ...call, headers: changeHeaders(call.headers, choice) };
  const headers = call.headers.filter(([name]) => name !== "content-length");
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (type.endsWith("json")) return { headers, body: changeText(call.body, choice) };
  if (type === "application/proto") return { headers, body: changeMessage(call.body, choice) };
  const body = level < 7 ? changeEnvelope(call.body, choice) : inEnvelope(call.body, choice);
  return { headers, body };
}

const HEADER_CHANGES: readonly ((headers: Headers, at: number, choice: Choice) => Headers)[] = [
  (headers, at) => headers.toSpliced(at, 1),
  (headers, at) => [...headers, ...headers.slice(at, at + 1)],
  (headers, at, choice) => withHeader(headers, at, choice.pick(HEADER_VALUES)),
  (headers, _at, choice) => [...headers, choice.pick(STRAY_HEADERS)],
];
const HEADER_VALUES = [
  "",
  "0",
  "-1",
  "application/json",
  "application/grpc",
  "application/proto",
  "text/plain; charset=utf-16",
  "/piworkflows.host.v1.RunService/StartRun",
  "/../../x",
  "PUT",
  "\u00ff",
  "x".repeat(9_000),
];
const STRAY_HEADERS: Headers = [
  ["connect-timeout-ms", "99999999999999"],
  ["connect-timeout-ms", "1"],
  ["grpc-timeout", "0n"],
  ["grpc-timeout", "banana"],
  ["grpc-encoding", "gzip"],
  ["content-encoding", "br"],
  ["connect-protocol-version", "2"],
  ["content-length", "7"],
  ["transfer-encoding", "chunked"],
  ["x-pi-workflows-version", "9.9.9"],
  ["x-pi-workflows-worker", "guess"],
  ["Upper-Case", "1"],
  [":late", "1"],
];

function changeHeaders(headers: Headers, choice: Choice): Headers {
  return choice.pick(HEADER_CHANGES)(headers, choice.below(headers.length), choice);
}

function withHeader(headers: Headers, at: number, value: string): Headers {
  return headers.map(([name, own], index) => [name, index === at ? value : own]);
}

/** JSON that is none, or another. */
function changeText(body: Buffer, choice: Choice): Buffer {
  const text = body.toString();
  const values = [
    "{}",
    "[".repeat(3_000),
    "1e999",
    '"\\ud800"',
    "null",
    '{"@type":1}',
    "-1",
    '"\\u0000"',
  ];
  const at = text.indexOf(":", choice.below(text.length + 1));
  if (at < 0 || choice.chance(0.3)) return changeBytes(body, choice);
  const end = text.slice(at).search(/[,}]/);
  return Buffer.from(text.slice(0, at + 1) + choice.pick(values) + text.slice(at + end));
}

function inEnvelope(body: Buffer, choice: Choice): Buffer {
  return envelope(0, changeMessage(body.subarray(ENVELOPE_BYTES), choice));
}

/** A message whose flag or length is a lie, that is cut, doubled or followed by another. */
function changeEnvelope(body: Buffer, choice: Choice): Buffer {
  const message = body.subarray(ENVELOPE_BYTES);
  const changes = [
    () => envelope(choice.below(256), message),
    () => envelope(0, message, Number(choice.edge(32))),
    () => Buffer.concat([body, body]),
    () => body.subarray(0, choice.below(body.length + 1)),
    () => Buffer.concat([body, envelope(choice.pick([1, 2, 128]), choice.bytes(4))]),
    () => Buffer.alloc(0),
  ];
  return choice.pick(changes)();
}

function envelope(flag: number, message: Buffer, length: number = message.length): Buffer {
  const head = Buffer.alloc(ENVELOPE_BYTES);
  head[0] = flag;
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, message]);
}
