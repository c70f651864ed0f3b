/** Protobuf as bytes: fields are taken apart without a schema and put together again, also wrongly. */
import type { Choice } from "./choice.ts";

export interface Field {
  readonly number: number;
  readonly type: number;
  /** A number, or bytes as they are. */
  readonly value: bigint | Buffer;
  /** What the length says, where that is a lie. */
  readonly length?: number;
}

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/** Texts that mean something to somebody below. */
const TEXTS = [
  "",
  "../../etc/passwd",
  "/etc/passwd",
  "a\0b",
  "\uFEFF",
  "{}",
  "[".repeat(600),
  "x".repeat(300),
  "\r\nx-injected: 1",
  "__proto__",
  "%s%n",
  "'; --",
].map((text) => Buffer.from(text));
const BAD_TEXT = Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80, 0xff]);

/** The fields, or nothing where these bytes are no message. */
export function fieldsOf(bytes: Buffer): readonly Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    if (tag === undefined) return undefined;
    const read = readValue(bytes, tag.next, Number(tag.value & 7n));
    if (read === undefined || tag.value >> 3n === 0n) return undefined;
    fields.push({ number: Number(tag.value >> 3n), type: Number(tag.value & 7n), ...read.field });
    at = read.next;
  }
  return fields;
}

export function messageBytes(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.map(fieldBytes));
}

type Change = (fields: readonly Field[], at: number, choice: Choice) => readonly Field[];

const CHANGES: readonly Change[] = [
  (fields, at) => fields.toSpliced(at, 1),
  (fields, at) => fields.toSpliced(at, 0, ...fields.slice(at, at + 1)),
  (fields, at, choice) => replaced(fields, at, { number: 1 + choice.below(30) }),
  (fields, at, choice) => replaced(fields, at, { type: choice.below(8) }),
  (fields, at, choice) => replaced(fields, at, { value: choice.edge(64), type: VARINT }),
  (fields, at, choice) => replaced(fields, at, { value: textOf(choice), type: BYTES }),
  (fields, at, choice) => replaced(fields, at, { length: Number(choice.edge(32)) }),
  (fields, at, choice) => fields.toSpliced(at, 0, nested(choice)),
  (fields, at, choice) => fields.toSpliced(at, 0, group(choice)),
  (fields, at, choice) => [...fields.slice(at), ...fields.slice(0, choice.below(at + 1))],
];

/** One field of the message, or of one inside it, is changed. */
export function changeMessage(bytes: Buffer, choice: Choice): Buffer {
  const fields = fieldsOf(bytes);
  if (fields === undefined || fields.length === 0) {
    return Buffer.concat([bytes, messageBytes([nested(choice)])]);
  }
  const at = choice.below(fields.length);
  const inner = fields[at]?.value;
  if (inner instanceof Buffer && fieldsOf(inner) !== undefined && choice.chance(0.6)) {
    return messageBytes(replaced(fields, at, { value: changeMessage(inner, choice) }));
  }
  return messageBytes(choice.pick(CHANGES)(fields, at, choice));
}

function replaced(fields: readonly Field[], at: number, change: Partial<Field>): readonly Field[] {
  return fields.map((field, index) => (index === at ? { ...field, ...change } : field));
}

function textOf(choice: Choice): Buffer {
  return choice.chance(0.2) ? BAD_TEXT : choice.pick(TEXTS);
}

/** A field in a field in a field, as deep as no reader should follow. */
function nested(choice: Choice): Field {
  const number = 1 + choice.below(20);
  let value: Buffer = Buffer.alloc(0);
  for (let depth = choice.pick([1, 50, 3_000]); depth > 0; depth -= 1) {
    value = fieldBytes({ number, type: BYTES, value });
  }
  return { number, type: BYTES, value };
}

/** The beginning of a group that may never end. */
function group(choice: Choice): Field {
  return { number: 1 + choice.below(20), type: choice.pick([3, 4]), value: choice.bytes(3) };
}

function fieldBytes({ number, type, value, length }: Field): Buffer {
  const tag = varint((BigInt(number) << 3n) | BigInt(type));
  if (typeof value === "bigint") return Buffer.concat([tag, varint(value)]);
  if (type !== BYTES) return Buffer.concat([tag, value]);
  return Buffer.concat([tag, varint(BigInt(length ?? value.length)), value]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

function readVarint(
  bytes: Buffer,
  from: number,
): { readonly value: bigint; readonly next: number } | undefined {
  let value = 0n;
  for (let at = from; at < Math.min(bytes.length, from + 10); at += 1) {
    const byte = bytes[at] ?? 0;
    value |= BigInt(byte & 127) << BigInt(7 * (at - from));
    if (byte < 128) return { value, next: at + 1 };
  }
  return undefined;
}

interface Read {
  readonly field: Pick<Field, "value">;
  readonly next: number;
}

function readValue(bytes: Buffer, at: number, type: number): Read | undefined {
  if (type === VARINT) {
    const read = readVarint(bytes, at);
    return read && { field: { value: read.value }, next: read.next };
  }
  if (type === FIXED_64) return readRange(bytes, at, 8);
  if (type === FIXED_32) return readRange(bytes, at, 4);
  const length = type === BYTES ? readVarint(bytes, at) : undefined;
  return length && readRange(bytes, length.next, Number(length.value));
}

function readRange(bytes: Buffer, at: number, length: number): Read | undefined {
  if (at + length > bytes.length) return undefined;
  return { field: { value: bytes.subarray(at, at + length) }, next: at + length };
}
