/** What workers of this and earlier hosts printed: read, followed, removed. */
import { readdirSync, rmSync } from "node:fs";
import { captureFile, readCaptured, readPiece, workerOfFile } from "./capture-file.ts";
import type { CapturedOutput, OutputPiece } from "./capture-file.ts";
import type { OutputCapture } from "./output-capture.ts";

export interface FollowOptions {
  /** Where to begin, counted in bytes the worker wrote; 0 is the beginning. */
  readonly from: number;
  /** Ends the waiting, not with an error. */
  readonly signal?: AbortSignal;
}

/** One piece fills a frame well and holds up nobody. */
const PIECE_BYTES_MAX = 256 * 1_024;

export class OutputLog {
  readonly #workersDir: string;
  readonly #live = new Map<string, OutputCapture>();

  constructor(workersDir: string) {
    this.#workersDir = workersDir;
  }

  /** The file of a new worker's output; it exists once the output is kept. */
  fileOf(workerId: string): string {
    return captureFile(this.#workersDir, workerId);
  }

  /** Lets readers see what a live worker prints before it is on disk. */
  attach(workerId: string, capture: OutputCapture): void {
    this.#live.set(workerId, capture);
    capture.onChange(() => {
      if (capture.ended) this.#live.delete(workerId);
    });
  }

  /** All that is kept now; empty for a worker that was never bound, printed nothing or was pruned. */
  read(workerId: string): CapturedOutput {
    this.#live.get(workerId)?.flush();
    return readCaptured(this.fileOf(workerId));
  }

  /** All that is kept from `from` on, then what comes, until the worker has ended. */
  async *follow(workerId: string, { from, signal }: FollowOptions): AsyncGenerator<OutputPiece> {
    const file = this.fileOf(workerId);
    let next = from;
    for (;;) {
      if (signal?.aborted === true) return;
      // Asked before the file is read: what comes in between is then read in the next round.
      const capture = this.#live.get(workerId);
      capture?.flush();
      const piece = readPiece(file, { from: next, bytesMax: PIECE_BYTES_MAX });
      next = piece.next;
      if (piece.data.length > 0) yield piece;
      else if (capture === undefined) return;
      else await changeOf(capture, signal);
    }
  }

  /** Removes what is kept of workers that need not be; returns of how many. */
  removeUnless(isNeeded: (workerId: string) => boolean): number {
    const ids = readdirSync(this.#workersDir)
      .map(workerOfFile)
      .filter((id) => id !== undefined)
      .filter((id) => !isNeeded(id));
    for (const id of ids) rmSync(this.fileOf(id), { force: true });
    return ids.length;
  }
}

async function changeOf(capture: OutputCapture, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopListening = capture.onChange(resolve);
  const give = (): void => resolve();
  signal?.addEventListener("abort", give);
  await promise;
  signal?.removeEventListener("abort", give);
  stopListening();
}
