/** What the nodes of the simulated workflow do, decided by chance. */
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { InteractionKind } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import type { EffectGrant } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import {
  AttemptOutcome,
  EffectOutcomeKind,
} from "../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import type { EffectPolicy } from "../../src/host/records.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { LEAF_PATHS, nodeOf } from "./graph.ts";
import type { Outside } from "./outside.ts";
import type { Place, Proposed } from "./place.ts";
import type { Random } from "./random.ts";
import type { FrameBody } from "./sim-worker.ts";

type Advance = Extract<FrameBody, { case: "advance" }>["value"];
type Result = NonNullable<Advance["result"]>;

const ERROR = { name: "SimError", message: "it did not work" };
/** A run that goes on longer than this comes to its end. */
const STEPS_WANTED = 9;
const DEADLINES_MS = [5_000, 20_000, 60_000];

export function effectKey({ runId, node, visit }: Pick<Place, "runId" | "node" | "visit">): string {
  return `${runId}:${nodeOf(node).effect?.type ?? ""}:${node}:${visit}`;
}

export class Author {
  /** Nothing fails any more and every run heads for its end. */
  calm = false;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #mayReply: (runId: string) => boolean;
  #outputs = 0;

  constructor(options: {
    readonly random: Random;
    readonly clock: Clock;
    /** False for runs whose steps no Pi of this world is shown. */
    readonly mayReply: (runId: string) => boolean;
  }) {
    this.#random = options.random;
    this.#clock = options.clock;
    this.#mayReply = options.mayReply;
  }

  ready(): FrameBody {
    return { case: "ready", value: this.#limit() };
  }

  progress({ node }: Place): FrameBody {
    this.#outputs += 1;
    const value = { node, text: `at ${this.#outputs}`, cpuMs: BigInt(this.#outputs) };
    return { case: "progress", value };
  }

  acts(place: Place, outside: Outside): Proposed {
    const { kind } = nodeOf(place.node);
    if (this.#may(0.03))
      return { body: { case: "exiting", value: { failure: ERROR, reason: "" } } };
    switch (kind) {
      case "checkpoint":
      case "agent":
      case "human_decision":
        return this.#asks(place, kind);
      case "wait":
        return { body: { case: "wait", value: { dueAtMs: BigInt(this.#soon(20_000)) } } };
      case "shell":
      case "action":
        return this.#beginsEffect(place, outside);
      default:
        return this.#computes(place, kind);
    }
  }

  validates(place: Place): Proposed {
    if (this.#may(0.4)) {
      return { body: { case: "rejected", value: { message: "it is not good enough" } } };
    }
    return this.#ends(place, this.#ok(place));
  }

  /** The attempt was ended by the host; only the edge is to be taken. */
  routes(place: Place, ended: AttemptStatus): Proposed {
    if (ended === AttemptStatus.OK) return this.#ends(place, undefined);
    const { retry } = nodeOf(place.node);
    const mayRetry = retry !== undefined && place.failures < retry.maxAttempts;
    return mayRetry && this.#may(0.7)
      ? this.#again(place, undefined)
      : this.#leavesFailed(place, undefined, OUTCOME_OF[ended] ?? AttemptOutcome.FAILED);
  }

  tellsApplied(place: Place, { effectId }: EffectGrant): Proposed {
    const receiptJson = json({ key: effectKey(place) });
    const effect = { effectId, kind: EffectOutcomeKind.APPLIED, receiptJson };
    return this.#ends(place, { ...this.#ok(place), effect });
  }

  tellsRejected(place: Place, { effectId }: EffectGrant): Proposed {
    const effect = { effectId, kind: EffectOutcomeKind.REJECTED, detail: ERROR.message };
    const result = { outcome: AttemptOutcome.FAILED, error: ERROR, effect };
    const { retry } = nodeOf(place.node);
    const mayRetry = retry !== undefined && place.failures + 1 < retry.maxAttempts;
    return mayRetry
      ? this.#again(place, result)
      : this.#leavesFailed(place, result, AttemptOutcome.FAILED);
  }

  tellsUnknown({ effectId }: EffectGrant): Proposed {
    const effect = { effectId, kind: EffectOutcomeKind.UNKNOWN, detail: "nobody saw it" };
    const result = { outcome: AttemptOutcome.UNKNOWN, error: ERROR, effect };
    return { body: { case: "advance", value: { result } } };
  }

  policyOf({ node }: Place): EffectPolicy {
    return nodeOf(node).effect?.policy ?? "manual";
  }

  #computes(place: Place, kind: string): Proposed {
    const { retry } = nodeOf(place.node);
    if (kind === "notify") {
      const notification = { text: `news of ${place.attemptId}`, final: this.#may(0.3) };
      return this.#ends(place, { ...this.#ok(place), notification });
    }
    if (retry === undefined || !this.#may(0.5)) return this.#ends(place, this.#ok(place));
    const result = { outcome: AttemptOutcome.FAILED, error: ERROR };
    if (place.failures + 1 >= retry.maxAttempts) {
      return this.#leavesFailed(place, result, AttemptOutcome.FAILED);
    }
    if (this.#may(0.5)) return this.#again(place, result);
    return { body: { case: "wait", value: { dueAtMs: BigInt(this.#soon(40_000)), result } } };
  }

  #beginsEffect(place: Place, outside: Outside): Proposed {
    const key = effectKey(place);
    const { policy = "manual", type = "" } = nodeOf(place.node).effect ?? {};
    const observable = policy === "idempotent" && (outside.has(key) || this.#may(0.5));
    const value = { key, fingerprint: "the same request", type, policy, observable };
    return { body: { case: "effectBegin", value } };
  }

  #asks(place: Place, kind: "checkpoint" | "agent" | "human_decision"): Proposed {
    const limit = this.#may(0.4) ? { timeoutMs: BigInt(this.#within(60_000)) } : {};
    const summary = `what about ${place.attemptId}?`;
    const requestJson = json({ asked: place.attemptId });
    const value = { summary, requestJson, ...limit };
    if (kind === "checkpoint") return asked({ ...value, kind: InteractionKind.CHECKPOINT });
    if (kind === "human_decision") return asked({ ...value, ...this.#decision() });
    const prompt = "think about it";
    return this.#mayReply(place.runId) && this.#may(0.4)
      ? asked({ ...value, kind: InteractionKind.REPLY, prompt })
      : asked({ ...value, kind: InteractionKind.AGENT, prompt, expectedOutput: "anything" });
  }

  #decision(): {
    kind: InteractionKind;
    audience: string;
    choices: { id: string; label: string }[];
    onTimeout?: { afterMs: bigint; responseJson: Uint8Array };
  } {
    const choices = ["yes", "no"].map((id) => ({ id, label: `say ${id}` }));
    const base = { kind: InteractionKind.HUMAN_DECISION, audience: "operator", choices };
    if (!this.#may(0.3)) return base;
    const responseJson = json({ choice: "no" });
    return { ...base, onTimeout: { afterMs: BigInt(this.#within(60_000)), responseJson } };
  }

  /** Along the edge, or to the run's end. */
  #ends(place: Place, result: Result | undefined): Proposed {
    const told = result === undefined ? {} : { result };
    if (place.node === "end") {
      const value = { outcome: AttemptOutcome.OK, resultJson: json(place.runId) };
      return { body: { case: "advance", value: { ...told, follow: { case: "end", value } } } };
    }
    const node = place.node === "hub" ? this.#whither(place) : "hub";
    const value = { node, retry: false, ...this.#limit() };
    return {
      body: { case: "advance", value: { ...told, follow: { case: "next", value } } },
      next: { node, steps: place.steps + 1, failures: 0 },
    };
  }

  #again(place: Place, result: Result | undefined): Proposed {
    const told = result === undefined ? {} : { result };
    const value = { node: place.node, retry: true, ...this.#limit() };
    const failures = place.failures + (result === undefined ? 0 : 1);
    return {
      body: { case: "advance", value: { ...told, follow: { case: "next", value } } },
      next: { node: place.node, steps: place.steps, failures },
    };
  }

  #leavesFailed(place: Place, result: Result | undefined, outcome: AttemptOutcome): Proposed {
    if (place.node !== "hub" && place.node !== "end" && !this.#may(0.3)) {
      return this.#ends(place, result);
    }
    const told = result === undefined ? {} : { result };
    const value = { outcome, error: ERROR };
    return { body: { case: "advance", value: { ...told, follow: { case: "end", value } } } };
  }

  #whither({ steps }: Place): string {
    if (this.calm || steps >= STEPS_WANTED || this.#random.chance(0.1)) return "end";
    return this.#random.pick(LEAF_PATHS) ?? "end";
  }

  #ok({ attemptId }: Place): { outcome: AttemptOutcome; outputJson: Uint8Array } {
    this.#outputs += 1;
    const outputJson = json({ attemptId, output: this.#outputs });
    return { outcome: AttemptOutcome.OK, outputJson };
  }

  #limit(): { timeoutMs?: bigint } {
    const timeoutMs = this.#may(0.3) ? this.#random.pick(DEADLINES_MS) : undefined;
    return timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) };
  }

  #may(probability: number): boolean {
    return !this.calm && this.#random.chance(probability);
  }

  #within(ms: number): number {
    return 1 + this.#random.below(ms);
  }

  #soon(ms: number): number {
    return Math.max(0, Math.floor(this.#clock.now())) + this.#within(ms);
  }
}

const OUTCOME_OF: Partial<Record<AttemptStatus, AttemptOutcome>> = {
  [AttemptStatus.FAILED]: AttemptOutcome.FAILED,
  [AttemptStatus.TIMED_OUT]: AttemptOutcome.TIMED_OUT,
};

function asked(value: Extract<FrameBody, { case: "interaction" }>["value"]): Proposed {
  return { body: { case: "interaction", value } };
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
