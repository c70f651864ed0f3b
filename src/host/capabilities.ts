/** What only a person's surfaces know: the right to answer human decisions. */
import { timingSafeEqual } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { newSecret, sha256Hex } from "../platform/ids.ts";

/**
 * Guards against a model's mistake, not against code that runs as the same user:
 * such code can read the terminal's key, or drive a terminal.
 */
export class Capabilities {
  readonly #digests = new Set<string>();

  /** A new one, for as long as it is not revoked. */
  issue(): string {
    const capability = newSecret();
    this.#digests.add(sha256Hex(capability));
    return capability;
  }

  revoke(capability: string): void {
    this.#digests.delete(sha256Hex(capability));
  }

  check(capability: string): boolean {
    const shown = Buffer.from(sha256Hex(capability));
    // All are looked at, so that the time tells nothing.
    return (
      [...this.#digests].filter((known) => timingSafeEqual(Buffer.from(known), shown)).length > 0
    );
  }
}

/** Leaves a capability for terminals, readable for this user only. */
export function publishPersonKey(path: string, capability: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, `${capability}\n`, { mode: 0o600, flag: "wx" });
}

/** A key that cannot be removed opens nothing: the next host makes another. */
export function withdrawPersonKey(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // See above.
  }
}
