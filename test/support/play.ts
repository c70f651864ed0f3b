/**
 * Plays a whole run in memory: the real engine and executors, and a host that
 * commits everything, lets every timer fire at once, and answers what is asked
 * from a script.
 */
import { systemClock } from "../../src/platform/clock.ts";
import { evaluateTimeout } from "../../src/worker/engine/attempt.ts";
import type { Engine, Position } from "../../src/worker/engine/attempt.ts";
import { drive } from "../../src/worker/engine/drive.ts";
import type {
  Ack,
  AttemptEnd,
  Follow,
  LimitedRequest,
  RunLink,
} from "../../src/worker/engine/run-link.ts";
import { RunState } from "../../src/worker/engine/run-state.ts";
import type { Workflow } from "../../src/workflow/index.ts";

/** What a request is answered with: a value to submit or to answer with, or a failure. */
export type Reply = { readonly value: unknown } | { readonly fails: string };

export interface Script {
  readonly input: unknown;
  readonly projectDir: string;
  /** Replies by node, one for each time it asks. */
  readonly replies: Readonly<Record<string, readonly Reply[]>>;
}

export interface Played {
  /** One line for each thing that was proposed. */
  readonly log: readonly string[];
  readonly result?: unknown;
  readonly outcome: string;
  readonly error?: string;
}

/** A proposal that would park the run. */
type Parked =
  | { readonly kind: "asked"; readonly request: LimitedRequest }
  | { readonly kind: "timer" }
  | { readonly kind: "ended"; readonly follow: Extract<Follow, { kind: "end" }> };

/** A run that asks more often than this would never end. */
const PARKS_MAX = 100;

export async function play(workflow: Workflow, script: Script): Promise<Played> {
  const log: string[] = [];
  const link = new PlayLink(log, workflow.graph.startAt);
  const input = workflow.input === undefined ? script.input : workflow.input(script.input);
  const facts = { runId: "run_1", workflow: workflow.name, projectDir: script.projectDir };
  const state = new RunState(facts, JSON.stringify(input));
  const stop = new AbortController().signal;
  const { graph, nodes } = workflow;
  const engine: Engine = { graph, nodes, state, link, clock: systemClock, stop };
  const left = new Map<string, Reply[]>();
  for (const [node, replies] of Object.entries(script.replies)) left.set(node, [...replies]);
  await drive(engine, { at: link.at, routeOnly: false, timeout: evaluateTimeout(engine, link.at) });
  for (let parks = 0; parks < PARKS_MAX; parks += 1) {
    const parked = link.takeParked();
    if (parked.kind === "ended") return ended(log, parked.follow);
    await goOn(engine, link, { parked, reply: left.get(link.at.node)?.shift() });
  }
  throw new Error("the run does not end");
}

function ended(log: readonly string[], follow: Extract<Follow, { kind: "end" }>): Played {
  const { outcome } = follow;
  if (follow.outcome === "ok")
    return { log, outcome, result: JSON.parse(follow.resultJson) as unknown };
  return { log, outcome, error: `${follow.error.name}: ${follow.error.message}` };
}

interface Turn {
  readonly parked: Exclude<Parked, { kind: "ended" }>;
  readonly reply: Reply | undefined;
}

async function goOn(engine: Engine, link: PlayLink, { parked, reply }: Turn): Promise<void> {
  const timeout = evaluateTimeout(engine, link.at);
  if (parked.kind === "timer") close(engine, link.at, { outputJson: "null" });
  else if (reply === undefined) throw new Error(`nothing answers ${link.at.node}`);
  else if ("fails" in reply) {
    close(engine, link.at, reply);
    link.at = { ...link.at, failures: link.at.failures + 1 };
  } else {
    const outputJson = JSON.stringify(reply.value);
    if (parked.request.kind === "agent") {
      const submission = { routeOnly: false, submissionJson: outputJson };
      await drive(engine, { at: link.at, ...submission, timeout });
      return;
    }
    close(engine, link.at, { outputJson });
  }
  await drive(engine, { at: link.at, routeOnly: true, timeout });
}

/** Closes an attempt outside the worker, as the host does with an answer. */
function close(
  engine: Engine,
  { node, visit, attempt }: Position,
  how: { readonly outputJson: string } | { readonly fails: string },
): void {
  const times = { visit, attempt, startedAtMs: 0, finishedAtMs: 0 };
  if ("outputJson" in how)
    engine.state.record(node, { outcome: "ok", outputJson: how.outputJson, ...times });
  else {
    engine.state.record(node, {
      outcome: "failed",
      error: { name: how.fails, message: "" },
      ...times,
    });
  }
}

function place(boundary: number): Pick<Position, "boundary" | "attemptId"> {
  return { boundary, attemptId: `att_${boundary}` };
}

class PlayLink implements RunLink {
  at: Position;
  readonly #log: string[];
  readonly #visits = new Map<string, number>();
  #parked: Parked | undefined;

  constructor(log: string[], node: string) {
    this.#log = log;
    this.#visits.set(node, 1);
    this.at = {
      node,
      visit: 1,
      attempt: 1,
      attemptId: "att_1",
      boundary: 1,
      failures: 0,
      steps: 1,
    };
  }

  takeParked(): Parked {
    const parked = this.#parked;
    if (parked === undefined) throw new Error(`the worker ended at ${this.at.node} without a word`);
    this.#parked = undefined;
    return parked;
  }

  advance(_place: unknown, end: AttemptEnd | undefined, follow: Follow | undefined): Promise<Ack> {
    const how = end?.kind ?? "closed";
    if (follow === undefined) throw new Error(`${this.at.node} is ${how}, and nothing follows`);
    this.#tell(end);
    if (follow.kind === "end") return this.#park({ kind: "ended", follow });
    const { node, retry } = follow;
    this.#log.push(`${this.at.node} ${how} -> ${node}${retry ? " again" : ""}`);
    // A failure that was closed outside is counted already.
    this.at = retry ? this.#again(end === undefined ? 0 : 1) : this.#enter(node);
    return Promise.resolve({ ...this.at, parked: false });
  }

  openInteraction(_place: unknown, request: LimitedRequest): Promise<Ack> {
    this.#log.push(`${this.at.node} asks ${request.kind}: ${request.summary}`);
    return this.#park({ kind: "asked", request });
  }

  reject(_place: unknown, message: string): Promise<Ack> {
    this.#log.push(`${this.at.node} rejects: ${message}`);
    // The question is still open.
    return this.#park({ kind: "asked", request: { kind: "agent", summary: "", requestJson: "" } });
  }

  openTimer(): Promise<Ack> {
    this.#log.push(`${this.at.node} waits`);
    return this.#park({ kind: "timer" });
  }

  beginEffect(
    _place: unknown,
    { key }: { readonly key: string },
  ): Promise<{ effectId: string; key: string; kind: "apply" }> {
    return Promise.resolve({ effectId: "eff_1", key, kind: "apply" });
  }

  effectProcess(): void {
    // Nobody ends this process's commands but itself.
  }

  progress(node: string, text: string): void {
    this.#log.push(`${node} says ${text}`);
  }

  #tell(end: AttemptEnd | undefined): void {
    const told = end?.kind === "ok" ? end.notification : undefined;
    if (told !== undefined) this.#log.push(`told: ${told.text}`);
  }

  #again(failed: number): Position {
    const { attempt, failures, boundary } = this.at;
    return {
      ...this.at,
      ...place(boundary + 1),
      attempt: attempt + 1,
      failures: failures + failed,
    };
  }

  #enter(node: string): Position {
    const visit = (this.#visits.get(node) ?? 0) + 1;
    this.#visits.set(node, visit);
    const { steps, boundary } = this.at;
    return { ...place(boundary + 1), node, visit, attempt: 1, failures: 0, steps: steps + 1 };
  }

  #park(parked: Parked): Promise<Ack> {
    this.#parked = parked;
    return Promise.resolve({ ...this.at, parked: true });
  }
}
