/** Which Pi this package works with: it uses events that came with 1.6 and knows no Pi 2. */

const VERSION = /^(\d+)\.(\d+)\./;

/** The oldest Pi that will do, and what comes after the newest. */
export const PI_RANGE = ">=1.6.0 <2";

export type PiFitness = "fits" | "too_old" | "too_new" | "unknown";

export function piFitness(version: string | undefined): PiFitness {
  const found = VERSION.exec(version ?? "");
  if (found === null) return "unknown";
  const [major, minor] = [Number(found[1]), Number(found[2])];
  if (major > 1) return "too_new";
  return major === 1 && minor >= 6 ? "fits" : "too_old";
}
