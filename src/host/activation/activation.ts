import { StopReason } from "../../gen/piworkflows/worker/v1/answers_pb.ts";
import type { Timer } from "../../platform/clock.ts";
import { HOST_STOP_GRACE_MS, KILL_GRACE_MS, RESOLVE_DEADLINE_MS } from "../limits.ts";
import { verdict } from "../operations/attempts.ts";
import type { BeginRecord } from "../operations/attach.ts";
import type { FailureRecord, RunRecord } from "../records.ts";
import type { SupervisedWorker, WorkerExit } from "../supervisor/supervised-worker.ts";
import { AttemptDeadline } from "./attempt-deadline.ts";
import { beginFrames, sendAll } from "./begin-frames.ts";
import { openedBy } from "./beginning.ts";
import type { OpenAttempt } from "./beginning.ts";
import { ClaimRenewal } from "./claim-renewal.ts";
import { concludeActivation } from "./conclusion.ts";
import { Conversation } from "./conversation.ts";
import { LoopWatch } from "./loop-watch.ts";
import type { LoopBlock } from "./loop-watch.ts";
import { CLAIM_RAN_OUT, newStanding } from "./standing.ts";
import type { Standing } from "./standing.ts";
import type { ActivationTools } from "./tools.ts";

export interface ActivationStart {
  /** The run as it was launched. */
  readonly run: RunRecord;
  readonly worker: SupervisedWorker;
  /** The worker resolved the file for this very run a moment ago. */
  readonly justResolved: boolean;
  /** Present when the run was attached as it was launched: the worker begins without asking. */
  readonly attached?: {
    readonly begin: BeginRecord;
    readonly limit: { readonly timeoutMs?: number };
  };
  /** The first node executes, or the edge is being taken. */
  readonly onBegun: () => void;
}

/** What the scheduler must know when it launches the run again. */
export interface ActivationEnd {
  readonly wantsFresh: boolean;
}

const LOADED_TOO_SLOWLY = `did not load the workflow within ${RESOLVE_DEADLINE_MS / 1_000} s`;

/**
 * The host's side of one generation of one run: it owns the claim's renewal, the
 * deadline, and the decision what becomes of the run when the worker is gone.
 */
export class Activation {
  readonly runId: string;
  readonly generation: number;
  readonly worker: SupervisedWorker;
  /** Resolves when the worker's whole tree is gone and all of it is stored; never rejects. */
  readonly ended: Promise<ActivationEnd>;

  readonly #tools: ActivationTools;
  readonly #start: ActivationStart;
  readonly #standing: Standing;
  readonly #conversation: Conversation;
  readonly #deadline: AttemptDeadline;
  readonly #loop: LoopWatch;
  readonly #renewal: ClaimRenewal;
  #draining = false;
  #leaving = false;
  #gone = false;
  /** The claim may be another since it was looked at, perhaps since the launch was written. */
  #isDoubtful = true;
  /** Ends a worker that should have begun. */
  #loading: Timer | undefined;
  /** Ends a worker that should have ended by itself. */
  #impatience: Timer | undefined;

  constructor(tools: ActivationTools, start: ActivationStart) {
    const { run, worker } = start;
    const { clock } = tools.host;
    this.#tools = tools;
    this.#start = start;
    this.runId = run.runId;
    this.generation = run.generation;
    this.worker = worker;
    this.#standing = newStanding(run, worker);
    this.#conversation = new Conversation(tools, this.#standing, {
      opened: (attempt) => {
        this.#loading?.cancel();
        this.#executes(attempt);
      },
      released: () => {
        this.#standing.released = true;
        this.#dismiss();
      },
      leaving: () => this.#dismiss(),
      failed: () => this.#failed(),
      answered: () => this.#answered(),
      heartbeat: (cpuMs) => {
        // One that was attached as it was launched shows by this that it has begun.
        if (this.#standing.attempt !== undefined) this.#loading?.cancel();
        this.#loop.heard(cpuMs);
      },
      fault: (reason) => this.#endFor("faultReason", reason),
      discard: (reason) => this.#endFor("hostReason", reason),
    });
    const { verdictGraceMs, loopBlockedMs: blockedMs } = tools.settings;
    this.#deadline = new AttemptDeadline(clock, verdictGraceMs, () => this.#overdue());
    this.#loop = new LoopWatch({ clock, probe: tools.probe, blockedMs }, worker, run.node);
    this.#renewal = new ClaimRenewal(tools, this.#standing, () => this.changed());
    this.ended = this.#live();
  }

  /** The attempt it began with is behind it. */
  get hasMovedOn(): boolean {
    return this.#standing.opened > 1;
  }

  /** Present while the worker's loop stands still. */
  loopBlock(): LoopBlock | undefined {
    const { attempt, released } = this.#standing;
    return attempt === undefined || released || this.#gone ? undefined : this.#loop.block();
  }

  /** Once a second; `late` when the host itself did not run for a while. */
  tick(late: boolean): void {
    const { attempt, released } = this.#standing;
    if (released || this.#gone) return;
    if (attempt !== undefined && !late && this.#loop.check()) {
      this.#log("worker.loop_blocked", { node: attempt.node });
    }
    this.#renewal.tick();
  }

  /** The run's status or claim was changed: perhaps a pause or a cancel took it away. */
  changed(): void {
    this.#isDoubtful = true;
    // Perhaps a commit of its own, which is looked at when it is answered.
    if (this.#standing.released || this.#gone || this.#conversation.open > 0) return;
    this.#isDoubtful = false;
    const { reader } = this.#tools.host.store;
    if (reader.claims.open(this.runId)?.generation === this.generation) return;
    this.#standing.released = true;
    this.#deadline.clear();
    const cancelled = reader.runs.get(this.runId)?.status === "cancelled";
    this.#stop(cancelled ? StopReason.CANCEL : StopReason.PAUSE, KILL_GRACE_MS);
  }

  /** The claim ran out: its process does not run, and others may take over. */
  expire(): void {
    this.#endFor("faultReason", CLAIM_RAN_OUT);
  }

  /** The host stops: at once, or when the effect that is being applied is settled. */
  drain(graceMs: number): void {
    if (this.#gone || this.#draining) return;
    this.#draining = true;
    if (graceMs > 0 && this.#isApplying()) {
      this.#wait(graceMs, () => this.#leave());
    } else this.#leave();
  }

  async #live(): Promise<ActivationEnd> {
    const { worker } = this;
    const exited = new Promise<WorkerExit>((resolve) => {
      worker.onEnd(resolve);
    });
    worker.bind(this.runId, this.generation);
    worker.onFrame((frame) => this.#conversation.receive(frame));
    this.#loading = this.#tools.host.clock.after(RESOLVE_DEADLINE_MS, () => {
      this.#endFor("faultReason", LOADED_TOO_SLOWLY);
    });
    void this.#sendBeginning();
    const { attached } = this.#start;
    if (attached !== undefined) this.#executes(openedBy(attached.begin, attached.limit));
    const exit = await exited;
    this.#gone = true;
    this.#deadline.clear();
    this.#loading.cancel();
    this.#impatience?.cancel();
    await concludeActivation(this.#tools, this.#standing, {
      exit,
      conversation: this.#conversation,
    });
    return { wantsFresh: this.#standing.wantsFresh };
  }

  async #sendBeginning(): Promise<void> {
    const { cacheDir, host } = this.#tools;
    const { run, justResolved, attached } = this.#start;
    const options = { cacheDir, justResolved, begin: attached?.begin };
    try {
      const frames = beginFrames(host.store.reader, run, options);
      await sendAll(frames, this.worker, () => this.#gone);
    } catch (error) {
      this.#log("activation.unreadable", { error });
      this.#endFor("faultReason", "could not be given the run: a stored value is damaged");
    }
  }

  #executes(attempt: OpenAttempt): void {
    this.#standing.opened += 1;
    this.#standing.attempt = attempt;
    this.#loop.executes(attempt.node);
    this.#deadline.watch(attempt.timeoutMs);
    if (this.#standing.opened === 1) this.#start.onBegun();
  }

  /** It was told to exit, or says that it does. */
  #dismiss(): void {
    this.#deadline.clear();
    this.#wait(KILL_GRACE_MS, () => this.worker.kill());
  }

  #answered(): void {
    this.#renewal.renewed();
    if (this.#draining && !this.#isApplying()) this.#leave();
    if (this.#isDoubtful) this.changed();
  }

  #overdue(): void {
    const { attempt, released } = this.#standing;
    if (attempt === undefined || released) return;
    // What it proposed in time is being written: the answer clears or sets the deadline.
    if (this.#conversation.open > 0) {
      this.#deadline.postpone();
      return;
    }
    const { node, timeoutMs = 0 } = attempt;
    this.#standing.faultReason ??= `node ${node} was overdue`;
    this.#judge("timed_out", {
      name: "TimeoutError",
      message: `node ${node} was not done after ${timeoutMs} ms and did not react; its process was ended`,
    });
  }

  /** Author code ended the process. What was proposed before is settled first, when it is gone. */
  #failed(): void {
    const { attempt, released, failure } = this.#standing;
    this.#deadline.clear();
    const isOpen = attempt !== undefined && !released && this.#conversation.open === 0;
    if (isOpen && failure !== undefined) this.#judge("failed", failure.error);
    else this.worker.kill();
  }

  /** The verdict is stored before the kill: a host that dies in between finds it. */
  #judge(outcome: "failed" | "timed_out", error: FailureRecord): void {
    const { attempt, proof } = this.#standing;
    const attemptId = attempt?.attemptId ?? "";
    this.#conversation.decide(async () => {
      await verdict(this.#tools.host, { proof, attemptId, outcome, error });
      this.worker.kill();
    });
  }

  #log(event: string, fields: Readonly<Record<string, unknown>>): void {
    const { runId, generation, worker } = this;
    this.#tools.host.log.warn(event, { runId, generation, workerId: worker.id, ...fields });
  }

  #isApplying(): boolean {
    return this.#tools.host.store.reader.effects.applyingOfRun(this.runId).length > 0;
  }

  /** The run goes on at the next start of the host. */
  #leave(): void {
    if (this.#gone || this.#leaving) return;
    this.#leaving = true;
    if (this.#standing.released) {
      // It ends for a reason of its own, for which the host does not wait long any more.
      this.#wait(HOST_STOP_GRACE_MS, () => this.worker.kill());
      return;
    }
    this.#standing.hostReason ??= "the host stopped";
    this.#stop(StopReason.HOST_STOPPING, HOST_STOP_GRACE_MS);
  }

  #stop(reason: StopReason, graceMs: number): void {
    // A loop that stands still reads no frame.
    if (this.#loop.block() !== undefined) this.worker.kill();
    else this.worker.stop(reason, graceMs);
    this.#wait(graceMs, () => this.worker.kill());
  }

  #endFor(why: "faultReason" | "hostReason", reason: string): void {
    this.#standing[why] ??= reason;
    this.worker.kill();
  }

  #wait(delayMs: number, run: () => void): void {
    this.#impatience?.cancel();
    this.#impatience = this.#gone ? undefined : this.#tools.host.clock.after(delayMs, run);
  }
}
