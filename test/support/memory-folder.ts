/**
 * Where temporary folders of tests lie. What a test writes is read back by the same machine while
 * it runs, so nothing has to reach a disk; and a disk takes most of the time of a test that opens
 * a database. Where there is no memory-backed folder fit for it, the disk serves as well.
 */
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";

const DISK = "/tmp";
const MEMORY = "/dev/shm";
/** What all test files that run at once may need; a container often gives 64 MB. */
const NEEDED_BYTES = 512 * 1024 * 1024;

/** One process serves many test files, each of which evaluates this module anew. */
const OPEN = Symbol.for("pi-workflows.test-folders");
type Process = typeof process & { [OPEN]?: Set<string> };

/** A new folder; its path is short because sockets below it must stay under 108 bytes. */
export function newTestFolder(where: string | undefined): string {
  const folder = mkdtempSync(`${where === "memory" && isMemoryFit() ? MEMORY : DISK}/pw-`);
  openFolders().add(folder);
  return folder;
}

export function removeTestFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  openFolders().delete(folder);
}

/** A file that cannot be imported never comes to its end; its folder goes with the process. */
function openFolders(): Set<string> {
  const holder: Process = process;
  const known = holder[OPEN];
  if (known !== undefined) return known;
  const folders = new Set<string>();
  holder[OPEN] = folders;
  process.once("exit", () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  return folders;
}

function isMemoryFit(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES && mayExecute();
  } catch {
    // No such folder, or no such table: macOS, a bare container.
    return false;
  }
}

/** Test projects hold programs, which a folder mounted `noexec` does not start. */
function mayExecute(): boolean {
  const line = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .findLast((mount) => mount.split(" ")[1] === MEMORY);
  return line !== undefined && !line.split(" ")[3]?.split(",").includes("noexec");
}
