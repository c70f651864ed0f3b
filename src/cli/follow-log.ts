/**
 * Following the output of a run over hosts that end and come back. The next host
 * is asked for all that is kept, and what was seen already is left out.
 */
import type { ReadRunLogResponse } from "../gen/piworkflows/host/v1/run_service_pb.ts";
import { isHostGone } from "../client/rejection.ts";
import { regain } from "./follow-run.ts";
import type { Regain } from "./follow-run.ts";

interface Wanted extends Pick<Regain, "client" | "signal"> {
  readonly runId: string;
  /** Begin about so many bytes before the end; absent for all that is kept. */
  readonly tailBytes?: number | undefined;
  readonly write: (piece: LogPiece) => Promise<void>;
}

export type LogFollow = Wanted & Regain;

export type LogPiece = Pick<ReadRunLogResponse, "workerId" | "data" | "droppedBytes">;

/** `ended`: the run ended, and all of its output was written. */
export async function followLog(follow: LogFollow): Promise<"ended" | "stopped" | "host_gone"> {
  let seen = follow.tailBytes === undefined ? new Seen() : undefined;
  for (;;) {
    try {
      seen ??= await writeTail(follow);
      await writeNew(follow, seen, true);
      return "ended";
    } catch (error) {
      if (follow.signal.aborted) return "stopped";
      if (!isHostGone(error)) throw error;
    }
    const regained = await regain(follow);
    if (regained !== undefined) return regained;
  }
}

/** Writes what is kept, once, also when the host goes away in the middle of it. */
export async function readLog(wanted: Wanted): Promise<void> {
  const seen = new Seen();
  await wanted.client.call(async () => {
    if (wanted.tailBytes === undefined) await writeNew(wanted, seen, false);
    else await writeTail(wanted);
  });
}

/** How far the output of each worker was seen, counted from its first byte. */
export class Seen {
  readonly #ends = new Map<string, number>();

  /** Begins to count anew, for another reading of the same output. */
  reading(): (piece: LogPiece) => LogPiece | undefined {
    const positions = new Map<string, number>();
    return (piece) => {
      const { workerId, data } = piece;
      const from = (positions.get(workerId) ?? 0) + Number(piece.droppedBytes);
      const end = from + data.length;
      positions.set(workerId, end);
      const seen = this.#ends.get(workerId) ?? 0;
      if (end <= seen) return undefined;
      this.#ends.set(workerId, end);
      // What was cut may lie partly before the place that was seen last.
      const dropped = Math.max(0, Math.min(from - seen, Number(piece.droppedBytes)));
      const fresh = data.subarray(Math.max(0, seen - from));
      return { workerId, data: fresh, droppedBytes: BigInt(dropped) };
    };
  }
}

async function writeNew(wanted: Wanted, seen: Seen, follow: boolean): Promise<void> {
  const { client, runId, signal, write } = wanted;
  const freshOf = seen.reading();
  for await (const piece of client.runs.readRunLog({ runId, follow }, { signal })) {
    const fresh = freshOf(piece);
    if (fresh !== undefined) await write(fresh);
  }
}

/** Reads all that is kept, which is little, so that every byte's place is known. */
async function writeTail({ client, runId, signal, write, tailBytes = 0 }: Wanted): Promise<Seen> {
  const seen = new Seen();
  const freshOf = seen.reading();
  const pieces: LogPiece[] = [];
  let size = 0;
  for await (const piece of client.runs.readRunLog({ runId }, { signal })) {
    const fresh = freshOf(piece);
    if (fresh === undefined) continue;
    pieces.push(fresh);
    size += fresh.data.length;
  }
  for (const piece of pieces) {
    const over = Math.min(piece.data.length, Math.max(0, size - tailBytes));
    size -= piece.data.length;
    if (over === piece.data.length) continue;
    const end = { ...piece, data: piece.data.subarray(over), droppedBytes: 0n };
    await write(over > 0 ? end : piece);
  }
  return seen;
}
