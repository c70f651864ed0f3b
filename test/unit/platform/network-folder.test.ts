// A database in WAL mode on a network file system is a damaged database before long.
import fs, { mkdtempSync, rmSync } from "node:fs";
import type { StatsFs } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { prepareStateFolder, statePaths } from "../../../src/platform/state-folder.ts";

test.each([
  ["NFS", 0x6969],
  ["SMB", 0x517b],
  // As statfs tells it where the number is signed.
  ["CIFS", 0xff534d42 | 0],
  ["9P", 0x01021997],
])("a state folder on %s is refused, and a local disk is asked for", (name, type) => {
  mountAs(type);
  const paths = newPaths();
  expect(() => prepareStateFolder(paths)).toThrow(
    `${paths.folder} is on a network file system (${name}); set PI_WORKFLOWS_HOME to a folder on a local disk`,
  );
});

test("a state folder on a local disk is taken", () => {
  mountAs(0xef53);
  expect(() => prepareStateFolder(newPaths())).not.toThrow();
});

/** Every folder lies on a file system of this kind until the test has ended. */
function mountAs(type: number): void {
  const statfs = vi.spyOn(fs, "statfsSync").mockReturnValue({ type } as StatsFs);
  syncBuiltinESMExports();
  onTestFinished(() => {
    statfs.mockRestore();
    syncBuiltinESMExports();
  });
}

function newPaths(): ReturnType<typeof statePaths> {
  const folder = mkdtempSync(join(tmpdir(), "n-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return statePaths({ PI_WORKFLOWS_HOME: folder });
}
