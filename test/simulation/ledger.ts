/**
 * What was acknowledged, kept without a look at how the host works: nothing of
 * it may be lost, happen twice, or come from somebody who no longer had the right.
 */
import { toBinary } from "@bufbuild/protobuf";
import type { Receipt } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { StateKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { Bootstrap, StateValue } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { WorkResponseSchema } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type {
  WorkRequest,
  WorkResponse,
} from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { Intent } from "./intents.ts";

/** What a host says to a worker after the COMMIT of a proposal. */
const ACCEPTING: ReadonlySet<string> = new Set(["ack", "begin", "effect"]);

interface Owner {
  readonly workerId: string;
  readonly generation: number;
}

/** What the world knows of a frame in the moment its host hears it. */
export interface Heard {
  readonly workerId: string;
  readonly frame: WorkRequest;
  /** Why the host must not accept it, if that is so. */
  readonly refusable: string | undefined;
}

export class Ledger {
  /** Commands that a host said it has done in that very call. */
  readonly #done = new Set<string>();
  /** First receipt of each key. */
  readonly #receipts = new Map<string, Receipt>();
  /** Key that admitted each run. */
  readonly #admitted = new Map<string, string>();
  readonly #answers = new Map<string, string>();
  readonly #owners = new Map<string, Owner>();
  readonly #heard = new Map<string, Heard>();
  readonly #answered = new Map<string, string>();
  readonly #report: (fault: string) => void;
  readonly cancelled = new Set<string>();
  /** Outputs that were acknowledged, by attempt. */
  readonly outputs = new Map<string, string>();
  /** When a run that waits for a time may go on, by run. */
  readonly dueAt = new Map<string, number>();
  /** Effects that a person was asked about and has said something of. */
  readonly resolved = new Set<string>();
  /** Somebody asked for runs to be pruned. */
  isPruned = false;

  constructor(report: (fault: string) => void) {
    this.#report = report;
  }

  get runIds(): readonly string[] {
    return [...this.#admitted.keys()];
  }

  /** Whether this worker has the newest generation of the run, as far as anybody was told. */
  isOwner(runId: string, workerId: string): boolean {
    return this.#owners.get(runId)?.workerId === workerId;
  }

  answerOf(interactionId: string): string | undefined {
    return this.#answers.get(interactionId);
  }

  /** A command is on its way, and may be done from now on. */
  asked({ subject }: Intent): void {
    if (subject.kind === "prune") this.isPruned = true;
    if (subject.kind === "resolve") this.resolved.add(subject.effectId);
  }

  /** A host acknowledged a command. */
  acknowledged({ key, subject }: Intent, receipt: Receipt | undefined): void {
    if (receipt === undefined) return;
    if (receipt.outcome === Outcome.COMMITTED) {
      if (this.#done.has(key)) this.#report(`${key} was done twice`);
      this.#done.add(key);
    }
    const first = this.#receipts.get(key);
    if (first !== undefined) this.#compare(key, first, receipt);
    else {
      this.#receipts.set(key, receipt);
      this.#takeIn(key, subject, receipt.runId);
    }
  }

  #compare(key: string, first: Receipt, again: Receipt): void {
    const same =
      again.runId === first.runId &&
      again.revision === first.revision &&
      again.committedAt?.seconds === first.committedAt?.seconds;
    if (!same) {
      this.#report(
        `${key} got another receipt: run ${first.runId} at ${first.revision}, then ${again.runId} at ${again.revision}`,
      );
    }
  }

  #takeIn(key: string, subject: Intent["subject"], runId: string): void {
    if (subject.kind === "start" || subject.kind === "restart") {
      const other = this.#admitted.get(runId);
      if (other !== undefined) this.#report(`run ${runId} answers both ${other} and ${key}`);
      this.#admitted.set(runId, key);
    } else if (subject.kind === "cancel") this.cancelled.add(subject.runId);
    else if (subject.kind === "answer" || subject.kind === "decide") {
      const { interactionId, value } = subject;
      // The same answer by somebody else is told that it was given before.
      const before = this.#answers.get(interactionId);
      if (before !== undefined && before !== value) {
        this.#report(`${interactionId} was answered with ${before} and with ${value}`);
      }
      this.#answers.set(interactionId, value);
    }
  }

  /** A host is about to hear a frame. */
  hears(heard: Heard): void {
    this.#heard.set(nameOf(heard.workerId, heard.frame.number), heard);
  }

  /** A host told a worker something, which is after the COMMIT of what it tells. */
  told(workerId: string, response: WorkResponse): void {
    const { body } = response;
    if (body.case === "bootstrap") this.#launched(workerId, body.value);
    else if (ACCEPTING.has(body.case ?? "")) this.#accepted(workerId, response);
    else if (body.case === "refused" || body.case === "lost") {
      const name = nameOf(workerId, response.inReplyTo);
      if (this.#answered.has(name)) {
        this.#report(`frame ${name} was accepted, and refused when it was sent again`);
      }
    }
  }

  #launched(workerId: string, { runId, generation }: Bootstrap): void {
    const before = this.#owners.get(runId);
    if (before !== undefined && before.generation >= generation) {
      this.#report(`run ${runId} was launched with generation ${generation} twice`);
    }
    this.#owners.set(runId, { workerId, generation });
    this.dueAt.delete(runId);
  }

  #accepted(workerId: string, response: WorkResponse): void {
    const name = nameOf(workerId, response.inReplyTo);
    const heard = this.#heard.get(name);
    // The first frames after a launch answer nothing.
    if (heard === undefined) return;
    const bytes = Buffer.from(toBinary(WorkResponseSchema, response)).toString("base64");
    const before = this.#answered.get(name);
    if (before !== undefined) {
      if (before !== bytes) this.#report(`frame ${name} was answered in two ways`);
      return;
    }
    this.#answered.set(name, bytes);
    const { frame, refusable } = heard;
    if (refusable !== undefined) {
      this.#report(`${frame.body.case ?? ""} of frame ${name} was accepted although ${refusable}`);
    }
    this.#keep(frame);
  }

  #keep({ body, claim, attemptId }: WorkRequest): void {
    if (body.case === "wait") this.dueAt.set(claim?.runId ?? "", Number(body.value.dueAtMs));
    if (body.case !== "advance") return;
    const output = body.value.result?.outputJson ?? new Uint8Array();
    if (output.length > 0) this.outputs.set(attemptId, Buffer.from(output).toString());
  }

  /** What a worker is told of an earlier node is what was acknowledged of it. */
  checkState(value: StateValue): void {
    if (value.kind !== StateKind.RESULT || value.status !== AttemptStatus.OK) return;
    const text = Buffer.from(value.json).toString();
    const { attemptId } = readOutput(text);
    const known = attemptId === undefined ? undefined : this.outputs.get(attemptId);
    if (known !== undefined && known !== text) {
      this.#report(`the output of ${attemptId} was ${known} and is told as ${text}`);
    }
  }
}

function readOutput(text: string): { readonly attemptId?: string } {
  // Outputs of simulated nodes name their attempt; answers of people are texts.
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null ? value : {};
}

function nameOf(workerId: string, number: bigint): string {
  return `${workerId}#${number}`;
}
