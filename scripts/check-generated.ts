/**
 * Fails when `src/gen` is not what `proto/` generates today. It compares with a
 * fresh copy instead of asking git, so it also holds in a tree with other
 * uncommitted work, and it changes nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const GENERATED = "src/gen";

function main(): number {
  const fresh = mkdtempSync(join(tmpdir(), "pw-gen-"));
  try {
    const buf = spawnSync(join(ROOT, "node_modules/.bin/buf"), ["generate", "-o", fresh], {
      cwd: ROOT,
      stdio: "inherit",
    });
    if (buf.status !== 0) return 1;
    const differing = compare(join(fresh, GENERATED), join(ROOT, GENERATED));
    for (const file of differing) console.error(`${GENERATED}/${file} is out of date`);
    if (differing.length > 0) console.error("Run `npm run generate` and commit the result.");
    return differing.length > 0 ? 1 : 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function compare(expected: string, actual: string): readonly string[] {
  const files = new Set([...filesIn(expected), ...filesIn(actual)]);
  return [...files].filter((file) => read(join(expected, file)) !== read(join(actual, file)));
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function read(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

process.exitCode = main();
