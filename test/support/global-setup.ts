/**
 * Builds `dist/` before tests that start real processes. Every project that
 * lists this file asks for it; the first one builds and the others wait for it.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
const BUILT = Symbol.for("pi-workflows.test.built");

export async function setup(): Promise<void> {
  // Each project gets its own copy of this module, so the promise lives where all copies see it.
  const shared = globalThis as { [BUILT]?: Promise<void> };
  shared[BUILT] ??= build();
  await shared[BUILT];
}

async function build(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, "scripts/build.ts")], { cwd: ROOT });
}
