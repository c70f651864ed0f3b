/** What the host has acknowledged to the soak, and what was found to be otherwise. */
import type { Receipt } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { statusWord } from "../../src/cli/views/words.ts";
import type { RunStatus, RunSummary } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { HostClient } from "../../src/client/host-client.ts";
import type { Plan } from "./kinds.ts";

export interface Asked {
  readonly requestId: string;
  readonly client: string;
}

export type Perform = (
  client: HostClient,
  command: Asked,
) => Promise<{ readonly receipt?: Receipt | undefined }>;

/** A command that was answered; asked again under its key it must be answered alike. */
export interface Given {
  readonly key: string;
  readonly perform: Perform;
  readonly receipt: Receipt;
}

/** A run whose start was acknowledged. */
export interface KnownRun {
  readonly key: string;
  readonly plan: Plan;
  readonly runId: string;
  readonly startedAt: number;
  /** The newest state that was seen. */
  summary?: RunSummary;
  /** A cancel or a pause whose answer is not known yet. */
  asked?: Promise<void>;
  /** An acknowledged cancel: it can end in no other way. */
  cancelled: boolean;
  /** An acknowledged pause that nobody has taken back. */
  paused: boolean;
  /** Somebody is busy with it; its newest state is looked at when that is done. */
  busy: boolean;
  /** Commands about it so far: each has a key of its own. */
  commands: number;
}

export interface Fault {
  readonly atMs: number;
  readonly what: string;
}

const FAULTS_TOLD = 50;

export class Ledger {
  /** Those that have not ended, by id. */
  readonly runs = new Map<string, KnownRun>();
  /** How each of the others ended. */
  readonly closed = new Map<string, RunStatus>();
  /** Newest states of runs whose start is not acknowledged yet. */
  readonly early = new Map<string, RunSummary>();
  readonly given: Given[] = [];
  readonly faults: Fault[] = [];
  /** Starts that had to be asked for again because those who load files were killed. */
  startsRefused = 0;
  /** Runs that ended as they must, by kind and ending. */
  readonly ended = new Map<string, number>();
  readonly #tell: (line: string) => void;
  readonly #startedAt = performance.now();

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** Since the soak began. */
  nowMs(): number {
    return performance.now() - this.#startedAt;
  }

  fault(what: string): void {
    this.faults.push({ atMs: this.nowMs(), what });
    if (this.faults.length <= FAULTS_TOLD) this.#tell(`FAULT: ${what}`);
  }

  /** The run has ended as it must. */
  close({ runId, plan }: KnownRun, summary: RunSummary): void {
    this.runs.delete(runId);
    this.closed.set(runId, summary.status);
    const how = `${plan.kind} ${statusWord(summary)}`;
    this.ended.set(how, (this.ended.get(how) ?? 0) + 1);
  }
}
