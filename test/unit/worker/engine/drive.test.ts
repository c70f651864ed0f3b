import { describe, expect, test, vi } from "vitest";
import {
  action,
  compute,
  defineWorkflow,
  idempotentEffect,
  wait,
} from "../../../../src/workflow/index.ts";
import type { Workflow, WorkflowDefinition } from "../../../../src/workflow/index.ts";
import type { Engine } from "../../../../src/worker/engine/attempt.ts";
import { evaluateTimeout } from "../../../../src/worker/engine/attempt.ts";
import { drive } from "../../../../src/worker/engine/drive.ts";
import { ProposalRefused } from "../../../../src/worker/engine/run-link.ts";
import type {
  Ack,
  AttemptEnd,
  Follow,
  LimitedRequest,
  RunLink,
} from "../../../../src/worker/engine/run-link.ts";
import { RunState } from "../../../../src/worker/engine/run-state.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

/** A host that acknowledges everything and remembers what it was told. */
class RecordingLink implements RunLink {
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

interface Rig {
  readonly link: RecordingLink;
  readonly clock: FakeClock;
  readonly stop: AbortController;
  readonly run: (routeOnly?: boolean) => Promise<void>;
  readonly state: RunState;
}

function rigFor(definition: WorkflowDefinition<unknown, Record<string, unknown>>): Rig {
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
  return { link, clock, stop, run, state };
}

describe("an activation", () => {
  test("goes from node to node, one proposal for each", async () => {
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => 1 }),
        b: compute({ run: ({ outputs }) => Number(outputs["a"]) + 1 }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    await run();
    expect(link.said).toEqual(["ok -> b", "ok -> end ok"]);
    expect(link.follows[1]).toMatchObject({ resultJson: "2" });
  });

  test("only routes when the attempt was closed outside", async () => {
    const { link, run, state } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => expect.unreachable("it was done") }),
        b: compute({ run: () => 2 }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    const closed = { outcome: "ok", outputJson: "1", visit: 1, attempt: 1 } as const;
    state.record("a", { ...closed, startedAtMs: 0, finishedAtMs: 0 });
    await run(true);
    expect(link.said).toEqual(["routed -> b", "ok -> end ok"]);
  });

  test("waits out a short back-off itself and parks for a long one", async () => {
    let tries = 0;
    const { link, clock, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({
          run: () => {
            tries += 1;
            throw new Error(`try ${tries}`);
          },
          retry: { maxAttempts: 3, backoffMs: 1_000, factor: 10, maxBackoffMs: 60_000 },
        }),
      },
    });
    const done = run();
    await vi.waitFor(() => expect(link.said).toEqual(["failed -> a again"]));
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    expect(tries).toBe(1);
    clock.advance(1_000);
    await done;
    expect(tries).toBe(2);
    expect(link.said).toEqual(["failed -> a again", `timer ${clock.now() + 10_000} after failed`]);
  });

  test("starts no further node once it was stopped", async () => {
    const { link, stop, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => stop.abort(new Error("paused")) }),
        b: compute({ run: () => expect.unreachable("it was stopped") }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    await run();
    expect(link.said).toEqual(["ok -> b"]);
  });

  test("fails the attempt when its proposal broke a rule", async () => {
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: { a: compute({ run: () => 1 }) },
    });
    link.refuse = 1;
    await run();
    expect(link.said).toEqual(["failed -> end failed"]);
    expect(link.ends[0]).toMatchObject({ error: { message: "no such edge" } });
  });

  test("reserves an effect before it acts, under a key of run, type, node and visit", async () => {
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: action({
          effect: idempotentEffect("mail.send"),
          run: ({ effect }) => {
            link.said.push(`acting as ${effect.key}`);
            return null;
          },
        }),
      },
    });
    await run();
    expect(link.said).toEqual([
      "effect run_1:mail.send:a:1",
      "acting as run_1:mail.send:a:1",
      "ok -> end ok",
    ]);
    expect(link.ends[0]).toMatchObject({ effect: { kind: "applied", effectId: "eff_1" } });
  });

  test("parks at a wait", async () => {
    const until = "2030-01-01T00:00:00Z";
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: { a: wait({ until: () => until }) },
    });
    await run();
    expect(link.said).toEqual([`timer ${Date.parse(until)} after nothing`]);
  });

  test("lets timers and stops of the host have their turn between two nodes", async () => {
    const turns: string[] = [];
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => turns.push("a") }),
        b: compute({ run: () => turns.push("b") }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    link.onProposal = () => setImmediate(() => turns.push("turn"));
    await run();
    expect(turns.slice(0, 3)).toEqual(["a", "turn", "b"]);
  });
});
