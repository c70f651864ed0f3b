/** Identifiers, secrets and digests: the only reader of randomness. */
import { createHash, randomBytes } from "node:crypto";

/** One prefix for each kind of thing that has an id of its own. */
export type IdPrefix =
  | "run"
  | "att"
  | "int"
  | "tim"
  | "eff"
  | "wrk"
  | "req"
  | "str"
  | "err"
  | "msg"
  | "sub"
  | "tch"
  | "hpi";

/** Crockford's base 32: its order is the order of the bytes, and nothing looks like something else. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS = 10; // 50 bits: milliseconds until the year 37648
const RANDOM_DIGITS = 16; // 80 bits
const RANDOM_BYTES = 10;

/** Random bytes are drawn so many at a time: each draw is a call of the system. */
const POOL_BYTES = 4_096;

let pool = Buffer.alloc(0);
let lastMs = 0;
let lastRandom = 0n;

/**
 * A new id, `prefix_` and 26 characters. Ids of one process sort in the order
 * in which they were made, also within one millisecond and when the wall clock
 * steps back.
 */
export function newId(prefix: IdPrefix): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // The top bit stays free, so that counting up within a millisecond cannot overflow.
    lastRandom = BigInt(`0x${draw(RANDOM_BYTES).toString("hex")}`) >> 1n;
  } else {
    lastRandom += 1n + BigInt(draw(1)[0] ?? 0);
  }
  return `${prefix}_${digits(BigInt(lastMs), TIME_DIGITS)}${digits(lastRandom, RANDOM_DIGITS)}`;
}

/** 32 random bytes as base64url: what a worker or a claim proves itself with. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256 in lower-case hexadecimal. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** A number in [0, 1) to spread retries with; never for secrets. */
export function random(): number {
  return Math.random();
}

function draw(bytes: number): Buffer {
  if (pool.length < bytes) pool = randomBytes(POOL_BYTES);
  const drawn = pool.subarray(0, bytes);
  pool = pool.subarray(bytes);
  return drawn;
}

function digits(value: bigint, count: number): string {
  let text = "";
  let rest = value;
  for (let place = 0; place < count; place += 1) {
    text = `${ALPHABET[Number(rest & 31n)] ?? ""}${text}`;
    rest >>= 5n;
  }
  return text;
}
