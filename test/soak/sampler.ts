/** Looks at the host from outside, once a second. */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { livingHost } from "../../src/client/host-file.ts";
import { isAlive } from "../../src/platform/process-identity.ts";
import type { ProcessIdentity } from "../../src/platform/process-identity.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import type { Ledger } from "./ledger.ts";

export interface Sample {
  readonly atMs: number;
  /** Epoch of the host that listens; 0 while there is none, as are the numbers of its process. */
  readonly epoch: number;
  readonly residentMb: number;
  readonly descriptors: number;
  readonly databaseMb: number;
  readonly walMb: number;
  /** Files that keep what workers printed. */
  readonly outputFiles: number;
  readonly unfinished: number;
  readonly finished: number;
  /** Commands that were acknowledged so far. */
  readonly commands: number;
}

const MIB = 1024 * 1024;
const SAMPLE_MS = 1_000;

export class Sampler {
  readonly samples: Sample[] = [];
  /** Hosts that were told to end. */
  readonly ending = new Set<number>();
  readonly #paths: StatePaths;
  readonly #ledger: Ledger;
  readonly #timer: NodeJS.Timeout;
  #last: (ProcessIdentity & { readonly epoch: number }) | undefined;

  constructor(paths: StatePaths, ledger: Ledger) {
    this.#paths = paths;
    this.#ledger = ledger;
    this.#timer = setInterval(() => this.#look(), SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { database, workersDir } = this.#paths;
    const host = livingHost(this.#paths);
    this.#noteEnd(host?.pid);
    if (host !== undefined) this.#last = host;
    this.samples.push({
      atMs: this.#ledger.nowMs(),
      epoch: host?.epoch ?? 0,
      ...(host === undefined ? { residentMb: 0, descriptors: 0 } : processOf(host.pid)),
      databaseMb: megabytes(database),
      walMb: megabytes(`${database}-wal`),
      outputFiles: entries(workersDir),
      unfinished: this.#ledger.runs.size,
      finished: this.#ledger.closed.size,
      commands: this.#ledger.given.length,
    });
  }

  /** A host whose end nobody asked for has failed. */
  #noteEnd(pid: number | undefined): void {
    const last = this.#last;
    if (last === undefined || last.pid === pid || isAlive(last)) return;
    if (!this.ending.has(last.pid)) this.#ledger.fault(`the host ${last.pid} ended by itself`);
    this.#last = undefined;
  }
}

function processOf(pid: number): Pick<Sample, "residentMb" | "descriptors"> {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    return { residentMb: kilobytes / 1024, descriptors: entries(`/proc/${pid}/fd`) };
  } catch {
    // It ended in between.
    return { residentMb: 0, descriptors: 0 };
  }
}

function megabytes(file: string): number {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / MIB;
}

function entries(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    // Not there yet, or not any more.
    return 0;
  }
}
