import {
  advance,
  attachWorker,
  openInteraction,
  openTimer,
  verdict,
} from "../../src/host/operations/attempts.ts";
import type { Attachment, BeginRecord } from "../../src/host/operations/attach.ts";
import type { BlockRequest } from "../../src/host/operations/attempts.ts";
import { blockRun } from "../../src/host/operations/attempts.ts";
import type {
  AckRecord,
  AttemptResult,
  NextStep,
  RunEnd,
} from "../../src/host/operations/boundary.ts";
import { beginEffect } from "../../src/host/operations/effects.ts";
import type { EffectRequest, GrantRecord } from "../../src/host/operations/effects.ts";
import type { InteractionRequest } from "../../src/host/operations/parking.ts";
import { refuseSubmission } from "../../src/host/operations/submissions.ts";
import type { VerdictRecord } from "../../src/host/operations/verdict.ts";
import type { ClaimProof, RunRecord } from "../../src/host/records.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import type { TestRig } from "./test-host.ts";

export const FAILURE = { name: "Error", message: "it broke" };
export const OK = { outcome: "ok", outputJson: "1" } as const satisfies AttemptResult;
export const FAILED = { outcome: "failed", error: FAILURE } as const satisfies AttemptResult;
export const TIMED_OUT = {
  outcome: "timed_out",
  error: FAILURE,
} as const satisfies AttemptResult;

export const next = (node: string): NextStep => ({ kind: "next", node, retry: false });
export const retry = (node: string): NextStep => ({ kind: "next", node, retry: true });
export const COMPLETE: RunEnd = { kind: "end", outcome: "ok", resultJson: '"done"' };
export const FAIL: RunEnd = { kind: "end", outcome: "failed", error: FAILURE };

/** A worker reduced to what the host sees of it: a proof and numbered proposals. */
export class TestWorker {
  readonly proof: ClaimProof;
  readonly #rig: TestRig;
  #number = 0;
  #begin: BeginRecord | undefined;
  #place = { boundary: 0, attemptId: "" };

  constructor(rig: TestRig, proof: ClaimProof) {
    this.#rig = rig;
    this.proof = proof;
  }

  get runId(): string {
    return this.proof.runId;
  }

  get run(): RunRecord {
    return this.#rig.run(this.runId);
  }

  /** What the host told it to begin with. */
  get begin(): BeginRecord {
    if (this.#begin === undefined) throw new Error("the worker has not attached");
    return this.#begin;
  }

  get attemptId(): string {
    return this.#place.attemptId;
  }

  get number(): number {
    return this.#number;
  }

  /** What every proposal says of its place. */
  get place(): { expectedBoundary: number; attemptId: string; newSources: [] } {
    const { boundary, attemptId } = this.#place;
    return { expectedBoundary: boundary, attemptId, newSources: [] };
  }

  async attach(attachment: Attachment = { newSources: [] }): Promise<BeginRecord> {
    const { host } = this.#rig;
    const attached = attachWorker(host, this.proof, this.nextNumber(), attachment);
    this.#begin = await this.#rig.sound(attached);
    this.#place = this.#begin;
    return this.#begin;
  }

  async advance(result: AttemptResult | undefined, follow?: NextStep | RunEnd): Promise<AckRecord> {
    return this.#take(
      advance(this.#rig.host, this.proof, this.nextNumber(), {
        ...this.place,
        ...(result === undefined ? {} : { result }),
        ...(follow === undefined ? {} : { follow }),
      }),
    );
  }

  async ask(request: Partial<InteractionRequest> = {}): Promise<string> {
    const whole = { ...this.place, kind: "checkpoint" as const, summary: "Ship it?", ...request };
    await this.#take(openInteraction(this.#rig.host, this.proof, this.nextNumber(), whole));
    const interaction = this.#rig.reader.interactions.open(this.runId);
    if (interaction === undefined) throw new Error("no interaction was opened");
    return interaction.interactionId;
  }

  /** The author's code does not take what was submitted. */
  async refuse(error = "no title"): Promise<AckRecord> {
    const refusal = { ...this.place, error };
    return this.#take(refuseSubmission(this.#rig.host, this.proof, this.nextNumber(), refusal));
  }

  async wait(delayMs: number, result?: AttemptResult): Promise<AckRecord> {
    const dueAt = this.#rig.at.clock.now() + delayMs;
    const request = { ...this.place, dueAt, ...(result === undefined ? {} : { result }) };
    return this.#take(openTimer(this.#rig.host, this.proof, this.nextNumber(), request));
  }

  /** Asks for the effect that the engine would build for the present visit. */
  async act(change: Partial<EffectRequest> = {}): Promise<GrantRecord> {
    const { node, visit } = this.run;
    const declared = this.#rig.reader.runs.graph(this.runId).nodes.find((one) => one.path === node);
    const { expectedBoundary, attemptId } = this.place;
    return this.#rig.sound(
      beginEffect(this.#rig.host, this.proof, this.nextNumber(), {
        expectedBoundary,
        attemptId,
        key: `${this.runId}/${declared?.effect?.type}/${node}/${visit}`,
        fingerprint: sha256Hex("request"),
        type: declared?.effect?.type ?? "none",
        policy: declared?.effect?.policy ?? "manual",
        observable: false,
        ...change,
      }),
    );
  }

  async judge(outcome: "failed" | "timed_out"): Promise<VerdictRecord> {
    const { attemptId, proof } = this;
    return this.#rig.sound(verdict(this.#rig.host, { proof, attemptId, outcome, error: FAILURE }));
  }

  async block(request: Omit<BlockRequest, "proof">): Promise<void> {
    await this.#rig.sound(blockRun(this.#rig.host, { proof: this.proof, ...request }));
  }

  nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }

  async #take(proposal: Promise<AckRecord>): Promise<AckRecord> {
    const ack = await this.#rig.sound(proposal);
    this.#place = { boundary: ack.boundary, attemptId: ack.attemptId ?? this.attemptId };
    return ack;
  }
}
