/**
 * Where temporary folders of tests lie. What a test writes is read back by the same machine while
 * it runs, so nothing has to reach a disk; and a disk takes most of the time of a test that opens
 * a database. Where there is no memory-backed folder fit for it, the disk serves as well.
 */
import { accessSync, constants, mkdtempSync, readFileSync, statfsSync } from "node:fs";

const DISK = "/tmp";
const MEMORY = "/dev/shm";
/** What all test files that run at once may need; a container often gives 64 MB. */
const NEEDED_BYTES = 512 * 1024 * 1024;

/** A new folder; its path is short because sockets below it must stay under 108 bytes. */
export function newTestFolder(where: string | undefined): string {
  return mkdtempSync(`${where === "memory" && isMemoryFit() ? MEMORY : DISK}/pw-`);
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
