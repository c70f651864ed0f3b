import type {
  EffectProcess,
  Exiting,
  LoadFailed,
  Progress,
  WorkRequest,
} from "../../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { crashPoint } from "../../platform/crash-points.ts";
import { ClaimLostError, HostError } from "../errors.ts";
import { claimLossNumber, reasonNumber } from "../handlers/rejections.ts";
import {
  MalformedFrame,
  failureRecord,
  loadFailureRecord,
  proofOf,
  response,
} from "../handlers/worker-convert.ts";
import type { LoadFailureRecord } from "../handlers/worker-convert.ts";
import { blockRun } from "../operations/attempts.ts";
import { recordEffectProcess } from "../operations/effects.ts";
import { writeProgress } from "../operations/progress.ts";
import { AnswerQueue } from "./answer-queue.ts";
import type { OpenAttempt } from "./beginning.ts";
import { ProgressWriter } from "../progress-writer.ts";
import { proposalOf } from "./proposals.ts";
import type { Committed } from "./proposals.ts";
import { CLAIM_RAN_OUT } from "./standing.ts";
import type { Standing } from "./standing.ts";
import type { ActivationTools } from "./tools.ts";
import { isStorageTrouble, writeUntil } from "./writes.ts";

export interface ConversationEvents {
  /** Another attempt is executed from now on; the first time the run was attached. */
  opened(attempt: OpenAttempt): void;
  /** The run is no longer this worker's, which is told to exit. */
  released(): void;
  /** Author code ended the process, which waits for its end. */
  failed(): void;
  /** The worker has been told to exit, or says that it does. */
  leaving(): void;
  /** Something was committed and answered. */
  answered(): void;
  heartbeat(cpuMs: number): void;
  /** The worker must be ended for what it did. */
  fault(reason: string): void;
  /** The worker must be ended for what is no fault of its own. */
  discard(reason: string): void;
}

/**
 * What is said on one worker's stream: proposals become transactions at once and
 * are answered in order after their commits.
 */
export class Conversation {
  readonly #tools: ActivationTools;
  readonly #standing: Standing;
  readonly #events: ConversationEvents;
  readonly #answers = new AnswerQueue();
  readonly #progress: ProgressWriter;
  /** A stale worker is told once. */
  #toldLost = false;

  constructor(tools: ActivationTools, standing: Standing, events: ConversationEvents) {
    this.#tools = tools;
    this.#standing = standing;
    this.#events = events;
    const { runId, generation } = standing.proof;
    this.#progress = new ProgressWriter(tools.host.clock, (node, text) => {
      this.#quietly(writeProgress(tools.host, { runId, generation, node, text }));
    });
  }

  /** Proposals that were not answered yet, the host's own included. */
  get open(): number {
    return this.#answers.open;
  }

  receive(frame: WorkRequest): void {
    try {
      this.#take(frame);
    } catch (error) {
      this.#refuse(error, frame);
    }
  }

  #take(frame: WorkRequest): void {
    const { body } = frame;
    switch (body.case) {
      case "ready":
      case "advance":
      case "interaction":
      case "rejected":
      case "wait":
      case "effectBegin":
        this.#propose(frame);
        return;
      case "loadFailed":
        this.#loadFailed(body.value);
        return;
      case "effectProcess":
        this.#effectProcess(frame, body.value);
        return;
      case "progress":
        this.#heard(body.value);
        return;
      case "exiting":
        this.#exiting(body.value);
        return;
      case "preloaded":
        // The answer to a wish that nobody has any more.
        return;
      case "hello":
      case "resolved":
      case undefined:
        this.#events.fault(`sent ${body.case ?? "an empty frame"} in the middle of a run`);
    }
  }

  /** A transition that the host itself decides; it ends this worker's claim. */
  decide(write: () => Promise<unknown>): void {
    this.#answers.add(this.#written(write), (outcome) => {
      if (outcome.ok) this.#events.released();
      else this.#refuse(outcome.error);
      this.#events.answered();
    });
  }

  /** Nothing is heard any more: resolves when all that was proposed is settled. */
  async close(): Promise<void> {
    this.#progress.close();
    await this.#answers.idle();
  }

  #propose(frame: WorkRequest): void {
    if (this.#toldLost) return;
    this.#standing.proven = true;
    this.#answers.add(this.#commit(frame), (outcome) => {
      if (outcome.ok) this.#committed(frame, outcome.value);
      else this.#refuse(outcome.error, frame);
      this.#events.answered();
    });
  }

  async #commit(frame: WorkRequest): Promise<Committed> {
    const { host } = this.#tools;
    const proposal = proposalOf(host, this.#standing.worker.secretHash, frame);
    return await this.#written(() => proposal.commit());
  }

  #committed(frame: WorkRequest, { body, parked, opened }: Committed): void {
    if (opened !== undefined) this.#events.opened(opened);
    crashPoint("ack.before", frame.body.case);
    this.#standing.worker.send(response(body, frame.number));
    if (parked) this.#events.released();
  }

  #refuse(error: unknown, frame?: WorkRequest): void {
    if (error instanceof ClaimLostError) this.#lose(error, frame);
    else if (isStorageTrouble(error)) {
      this.#events.discard("the host stopped before it could store what the worker did");
    } else if (!(error instanceof HostError)) this.#fail(error);
    else if (
      frame === undefined ||
      frame.body.case === "ready" ||
      error instanceof MalformedFrame
    ) {
      this.#events.fault(error.message);
    } else {
      const value = { reason: reasonNumber(error.reason), message: error.message };
      this.#standing.worker.send(response({ case: "refused", value }, frame.number));
    }
  }

  #lose(error: ClaimLostError, frame: WorkRequest | undefined): void {
    if (this.#toldLost) return;
    this.#toldLost = true;
    const value = { loss: claimLossNumber(error.loss) };
    this.#standing.worker.send(response({ case: "lost", value }, frame?.number));
    const { runId, generation } = this.#standing.proof;
    this.#tools.host.log.info("claim.lost", { runId, generation, loss: error.loss });
    if (error.loss === "expired") this.#expired();
    else this.#events.released();
  }

  /** Nobody has taken the run over yet: what becomes of it is decided when the worker is gone. */
  #expired(): void {
    this.#standing.faultReason ??= CLAIM_RAN_OUT;
    this.#events.leaving();
  }

  /** A fault of ours: the run is not harmed by starting over from its last boundary. */
  #fail(error: unknown): void {
    const { runId, generation } = this.#standing.proof;
    this.#tools.host.log.error("activation.fault", { runId, generation, error });
    this.#events.fault("met an internal error of the host; the host's log has more");
  }

  #loadFailed(value: LoadFailed): void {
    const { standing, failed } = { standing: this.#standing, failed: loadFailureRecord(value) };
    if (standing.attempt !== undefined && standing.proven) {
      this.#events.fault("said that it cannot load what it has begun");
    } else if (standing.mayBeStale && failed.reason === "SOURCE_CHANGED") {
      standing.wantsFresh = true;
      this.#events.discard("the spare had loaded other files than the run's");
    } else {
      const { host } = this.#tools;
      this.decide(() => blockRun(host, { proof: standing.proof, ...blockFor(failed) }));
    }
  }

  #effectProcess(frame: WorkRequest, { effectId, pid, startTime }: EffectProcess): void {
    // Known to the host before it is known to the store: the tree may have to end right now.
    this.#standing.commands.push({ pid, startTime });
    const { host, probe } = this.#tools;
    const started = { effectId, pid, startTime, bootId: probe.bootId() };
    const proof = proofOf(frame, this.#standing.worker.secretHash);
    this.#quietly(this.#written(() => recordEffectProcess(host, proof, started)));
  }

  #exiting({ failure }: Exiting): void {
    if (failure === undefined) {
      this.#events.leaving();
      return;
    }
    const attemptId = this.#standing.attempt?.attemptId;
    this.#standing.failure ??= { error: failureRecord(failure), attemptId };
    this.#events.failed();
  }

  #heard({ node, text, cpuMs }: Progress): void {
    this.#events.heartbeat(Number(cpuMs));
    if (text !== "" && !this.#standing.released) this.#progress.publish(node, text);
  }

  #written<T>(write: () => Promise<T>): Promise<T> {
    return writeUntil(this.#tools.host.clock, this.#tools.givenUp, write);
  }

  /** For what nobody waits for: a refusal is answered elsewhere, only a fault of ours is told. */
  #quietly(write: Promise<unknown>): void {
    write.catch((error: unknown) => {
      if (!(error instanceof HostError)) this.#fail(error);
    });
  }
}

/**
 * A file that changed is a person's to judge. A file that did not and still
 * cannot be loaded misses something around it, a package or a variable; the
 * run's committed work is kept until somebody has mended that.
 */
function blockFor(failed: LoadFailureRecord): {
  readonly reason: "source_changed" | "no_progress";
  readonly detail: string;
  readonly changedFiles?: readonly string[];
} {
  if (failed.reason === "SOURCE_CHANGED") {
    return { reason: "source_changed", detail: failed.message, changedFiles: failed.files };
  }
  const problems = failed.problems.map(({ message, file, line }) =>
    file === undefined ? message : `${file}${line === undefined ? "" : `:${line}`}: ${message}`,
  );
  return {
    reason: "no_progress",
    detail: `the workflow cannot be loaded any more: ${problems.join("\n")}`,
  };
}
