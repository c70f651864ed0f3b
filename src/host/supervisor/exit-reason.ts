/** From what the kernel says about a dead child to what happened, in one word and in words. */
import { StopReason } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import type { ChildEnd } from "./child.ts";
import type { ExitCause, WorkerExit } from "./supervised-worker.ts";

/** Why the host meant a worker to end, before it ended. */
export interface Intent {
  readonly cause: ExitCause;
  readonly words: string;
}

/** Node's last words when its heap, or the memory around it, is full. */
const OUT_OF_MEMORY = /JavaScript heap out of memory|process out of memory|Fatal process OOM/i;

/** The shell's way of telling a signal by an exit code. */
const SIGNAL_CODES_FROM = 128;

const STOP_WORDS: ReadonlyMap<StopReason, string> = new Map([
  [StopReason.PAUSE, "stopped: the run was paused"],
  [StopReason.CANCEL, "stopped: the run was cancelled"],
  [StopReason.HOST_STOPPING, "stopped: the host is stopping"],
  [StopReason.RETIRED, "stopped: not needed any more"],
]);

export function stopIntent(reason: StopReason): Intent {
  return { cause: "stopped", words: STOP_WORDS.get(reason) ?? "stopped" };
}

/** What ended the worker: the host's intent if it had one, else what the end and the last words tell. */
export function describeExit(
  end: ChildEnd,
  {
    intent,
    tail,
    at,
  }: { readonly intent: Intent | undefined; readonly tail: string; readonly at: number },
): WorkerExit {
  const { code, signal } = end;
  const base = { code, signal, at };
  if (end.error !== undefined) {
    return { ...base, cause: "spawn", reason: `could not be started: ${end.error.message}` };
  }
  const how = signal === undefined ? `exited with code ${code}` : `ended by ${signal}`;
  if (intent !== undefined) {
    return { ...base, cause: intent.cause, reason: `${intent.words}; ${how}` };
  }
  if (isOutOfMemory(end, tail)) {
    return { ...base, cause: "out_of_memory", reason: `ran out of memory; ${how}` };
  }
  return { ...base, cause: signal === undefined ? "exit" : "signal", reason: how };
}

/** An author may print such words too, but then does not die of a signal. */
function isOutOfMemory({ code, signal }: ChildEnd, tail: string): boolean {
  return (signal !== undefined || (code ?? 0) >= SIGNAL_CODES_FROM) && OUT_OF_MEMORY.test(tail);
}
