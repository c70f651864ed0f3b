/** A disk that a test can fill: a file system in memory, which only the administrator may mount. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CleanUp } from "./real-host.ts";

const CHUNK = Buffer.alloc(64 * 1024);

/** Whether this process may mount a file system. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const cleanUps: (() => Promise<void> | void)[] = [];
  try {
    return new SmallDisk((run) => cleanUps.push(run), 1).folder !== "";
  } catch {
    return false;
  } finally {
    for (const run of cleanUps.toReversed()) void run();
  }
}

export class SmallDisk {
  readonly folder: string;
  readonly #ballast: string;

  constructor(cleanUp: CleanUp, megabytes: number) {
    this.folder = mkdtempSync(join(tmpdir(), "d-"));
    cleanUp(() => rmSync(this.folder, { recursive: true, force: true }));
    mount(["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", this.folder]);
    cleanUp(() => void execFileSync("umount", ["--lazy", this.folder]));
    this.#ballast = join(this.folder, "ballast");
  }

  /** Takes what is left of the disk, but for so many bytes. */
  fill(leaveBytes = 0): void {
    const file = openSync(this.#ballast, "a");
    try {
      for (;;) writeSync(file, CHUNK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
    truncateSync(this.#ballast, Math.max(0, statSync(this.#ballast).size - leaveBytes));
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  makeReadOnly(): void {
    mount(["-o", "remount,ro", this.folder]);
  }
}

function mount(args: readonly string[]): void {
  execFileSync("mount", args, { stdio: "ignore" });
}
