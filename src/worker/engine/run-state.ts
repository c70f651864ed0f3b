import type { Context, NodeResult } from "../../workflow/context.ts";
import type { ErrorDescription } from "../../workflow/describe-error.ts";
import type { Outcome } from "../../workflow/route.ts";

/** The newest closed attempt of a node. */
export interface StoredResult {
  readonly outcome: Outcome;
  readonly outputJson?: string;
  readonly error?: ErrorDescription;
  readonly visit: number;
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

export interface RunFacts {
  readonly runId: string;
  readonly workflow: string;
  readonly projectDir: string;
}

/**
 * The values a run has produced so far, as author code sees them. What is read
 * here after a restart was parsed from the same text as before it.
 */
export class RunState {
  readonly facts: RunFacts;
  readonly #input: unknown;
  #results: Readonly<Record<string, NodeResult>> = Object.freeze({});
  #outputs: Readonly<Record<string, unknown>> = Object.freeze({});
  readonly #visits = new Map<string, number>();

  constructor(facts: RunFacts, inputJson: string) {
    this.facts = facts;
    this.#input = frozenValue(inputJson);
  }

  /** Takes the newest result of a node in; outputs hold it only while it is `ok`. */
  record(node: string, stored: StoredResult): void {
    const output = stored.outputJson === undefined ? undefined : frozenValue(stored.outputJson);
    const result: NodeResult = Object.freeze({
      outcome: stored.outcome,
      ...(stored.outputJson === undefined ? {} : { output }),
      ...(stored.error === undefined ? {} : { error: deepFreeze(stored.error) }),
      attempt: stored.attempt,
      startedAt: new Date(stored.startedAtMs).toISOString(),
      finishedAt: new Date(stored.finishedAtMs).toISOString(),
    });
    this.#results = Object.freeze({ ...this.#results, [node]: result });
    this.#outputs = Object.freeze(withOutput(this.#outputs, node, stored, output));
    this.#visits.set(node, stored.visit);
  }

  /** How often the run has entered the node and left it with a result. */
  visitsOf(node: string): number {
    return this.#visits.get(node) ?? 0;
  }

  resultOf(node: string): NodeResult | undefined {
    return this.#results[node];
  }

  get input(): unknown {
    return this.#input;
  }

  /** What functions of a node are given. */
  context(at: { visit: number; attempt: number }, signal: AbortSignal): Context {
    const { runId, workflow, projectDir } = this.facts;
    return Object.freeze({
      input: this.#input,
      outputs: this.#outputs,
      results: this.#results,
      run: Object.freeze({ id: runId, workflow, projectDir, ...at }),
      signal,
    });
  }
}

function withOutput(
  outputs: Readonly<Record<string, unknown>>,
  node: string,
  stored: StoredResult,
  output: unknown,
): Record<string, unknown> {
  const next: Record<string, unknown> = { ...outputs };
  if (stored.outcome === "ok") next[node] = output;
  else delete next[node];
  return next;
}

function frozenValue(json: string): unknown {
  return deepFreeze(JSON.parse(json) as unknown);
}

/** Freezes without recursion, because a value may be nested as deep as its limit allows. */
function deepFreeze<T>(value: T): T {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const item = rest.pop();
    if (typeof item !== "object" || item === null || Object.isFrozen(item)) continue;
    Object.freeze(item);
    const members: readonly unknown[] = Object.values(item);
    for (const member of members) rest.push(member);
  }
  return value;
}
