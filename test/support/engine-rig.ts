import { defineWorkflow } from "../../src/workflow/index.ts";
import type { Workflow, WorkflowDefinition } from "../../src/workflow/index.ts";
import type { Engine } from "../../src/worker/engine/attempt.ts";
import { evaluateTimeout } from "../../src/worker/engine/attempt.ts";
import { drive } from "../../src/worker/engine/drive.ts";
import { ProposalRefused } from "../../src/worker/engine/run-link.ts";
import type {
  Ack,
  AttemptEnd,
  Follow,
  LimitedRequest,
  RunLink,
} from "../../src/worker/engine/run-link.ts";
import { RunState } from "../../src/worker/engine/run-state.ts";
import { FakeClock } from "./fake-clock.ts";

/** A host that acknowledges everything and remembers what it was told. */
export class RecordingLink implements RunLink {
  readonly said: string[] = [];
  readonly ends: (AttemptEnd | undefined)[] = [];
  readonly follows: (Follow | undefined)[] = [];
  readonly requests: LimitedRequest[] = [];
  refuse = 0;
  onProposal: () => void = () => undefined;
  #boundary = 1;
  readonly #attempts = new Map<string, number>();

  async advance(
    _place: unknown,
    end: AttemptEnd | undefined,
    follow: Follow | undefined,
  ): Promise<Ack> {
    await Promise.resolve();
    this.onProposal();
    if (this.refuse > 0) {
      this.refuse -= 1;
      throw new ProposalRefused("no such edge");
    }
    this.ends.push(end);
    this.follows.push(follow);
    this.said.push(
      `${end?.kind ?? "routed"} -> ${follow === undefined ? "parked" : toText(follow)}`,
    );
    return this.#ack(follow);
  }

  async openInteraction(_place: unknown, request: LimitedRequest): Promise<Ack> {
    await Promise.resolve();
    this.said.push(`asks ${request.kind}`);
    this.requests.push(request);
    return this.#ack(undefined);
  }

  async reject(_place: unknown, message: string): Promise<Ack> {
    await Promise.resolve();
    if (this.refuse > 0) throw new ProposalRefused("nothing is validated");
    this.said.push(`rejected: ${message}`);
    return this.#ack(undefined);
  }

  async openTimer(_place: unknown, dueAtMs: number, end: AttemptEnd | undefined): Promise<Ack> {
    await Promise.resolve();
    this.said.push(`timer ${dueAtMs} after ${end?.kind ?? "nothing"}`);
    return this.#ack(undefined);
  }

  async beginEffect(
    _place: unknown,
    { key }: { key: string },
  ): Promise<{ effectId: string; key: string; kind: "apply" }> {
    await Promise.resolve();
    this.said.push(`effect ${key}`);
    return { effectId: "eff_1", key, kind: "apply" };
  }

  effectProcess(): void {
    this.said.push("process");
  }

  progress(node: string, text: string): void {
    this.said.push(`progress ${node} ${text}`);
  }

  #ack(follow: Follow | undefined): Ack {
    this.#boundary += 1;
    const parked = follow?.kind !== "next";
    if (follow?.kind !== "next")
      return { boundary: this.#boundary, attemptId: "", attempt: 0, visit: 0, parked };
    const attempt = follow.retry ? (this.#attempts.get(follow.node) ?? 1) + 1 : 1;
    this.#attempts.set(follow.node, attempt);
    return {
      boundary: this.#boundary,
      attemptId: `att_${this.#boundary}`,
      attempt,
      visit: 1,
      parked,
    };
  }
}

function toText(follow: Follow): string {
  if (follow.kind === "next") return follow.retry ? `${follow.node} again` : follow.node;
  return `end ${follow.outcome}`;
}

export interface EngineRig {
  readonly link: RecordingLink;
  readonly clock: FakeClock;
  readonly stop: AbortController;
  readonly run: (routeOnly?: boolean) => Promise<void>;
  /** An activation that begins with a submitted value. */
  readonly validate: (value: unknown) => Promise<void>;
  readonly state: RunState;
}

export function rigFor(
  definition: WorkflowDefinition<unknown, Record<string, unknown>>,
): EngineRig {
  const workflow: Workflow<unknown, Record<string, unknown>> = defineWorkflow(definition);
  const link = new RecordingLink();
  const clock = new FakeClock();
  const stop = new AbortController();
  const state = new RunState({ runId: "run_1", workflow: "w", projectDir: "/" }, "null");
  const engine: Engine = {
    graph: workflow.graph,
    nodes: workflow.nodes,
    state,
    link,
    clock,
    stop: stop.signal,
  };
  const node = workflow.graph.startAt;
  const at = { node, visit: 1, attempt: 1, attemptId: "att_1", boundary: 1, failures: 0, steps: 1 };
  const run = (routeOnly = false): Promise<void> =>
    drive(engine, { at, routeOnly, timeout: evaluateTimeout(engine, at) });
  const validate = (value: unknown): Promise<void> => {
    const submissionJson = JSON.stringify(value);
    return drive(engine, {
      at,
      routeOnly: false,
      submissionJson,
      timeout: evaluateTimeout(engine, at),
    });
  };
  return { link, clock, stop, run, validate, state };
}
