/**
 * Packs the package once, as `npm publish` would, and hands the tarball's path
 * to the tests: `inject("tarball")`. Installing it is each test's own affair.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Absolute path of the packed package. */
    readonly tarball: string;
  }
}

const ROOT = join(import.meta.dirname, "../..");

export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "pw-pack-"));
  await promisify(execFile)("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: ROOT,
  });
  const [tarball] = readdirSync(folder);
  if (tarball === undefined) throw new Error("npm pack left no tarball");
  project.provide("tarball", join(folder, tarball));
  return () => rmSync(folder, { recursive: true, force: true });
}
