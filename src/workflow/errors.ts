/** One thing wrong in a definition, with the place: `nodes.build.retry`, `edges[2].to`. */
export interface Problem {
  readonly place: string;
  readonly message: string;
}

/** A workflow definition that cannot run. Holds every problem found, not only the first. */
export class WorkflowDefinitionError extends Error {
  override readonly name = "WorkflowDefinitionError";
  readonly problems: readonly Problem[];
  /** What does not keep it from running, and often explains what does: a misspelt field. */
  readonly warnings: readonly Problem[];

  constructor(workflow: string, problems: readonly Problem[], warnings: readonly Problem[] = []) {
    const lines = problems.map((problem) => `  ${formatProblem(problem)}`);
    super(`workflow ${workflow} cannot run:\n${lines.join("\n")}`);
    this.problems = problems;
    this.warnings = warnings;
  }
}

export function formatProblem({ place, message }: Problem): string {
  return place === "" ? message : `${place}: ${message}`;
}

/**
 * Thrown by an action to say that its side effect may or may not have happened.
 * An idempotent effect is then applied again with the same key; a manual one
 * waits for a person.
 */
export class EffectUnknown extends Error {
  override readonly name = "EffectUnknown";
}

/** Thrown by a node to say that trying again cannot help: `retry` is not applied. */
export class NonRetryableError extends Error {
  override readonly name = "NonRetryableError";
  readonly retryable = false;
}

/** The node was not done in the time its `timeoutMs` allows. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
  readonly timeoutMs: number;

  constructor(path: string, timeoutMs: number) {
    super(`node ${path} was not done after ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** The reason of an aborted `ctx.signal` when a person or a program paused the run. */
export class PausedError extends Error {
  override readonly name = "PausedError";

  constructor() {
    super("the run was paused");
  }
}

/** The reason of an aborted `ctx.signal` when the run was cancelled. */
export class CancelledError extends Error {
  override readonly name = "CancelledError";

  constructor() {
    super("the run was cancelled");
  }
}

/** The reason of an aborted `ctx.signal` when the host is stopping; the run goes on at its next start. */
export class HostStoppingError extends Error {
  override readonly name = "HostStoppingError";

  constructor() {
    super("the host is stopping");
  }
}

/** The reason of an aborted `ctx.signal` when the run has another owner: stop, and write nothing. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
  readonly reason: string;

  constructor(reason: string) {
    super(`this worker no longer owns the run (${reason})`);
    this.reason = reason;
  }
}

/** The value that a switch asks for leads nowhere. Trying again gives the same value. */
export class RoutingError extends Error {
  override readonly name = "RoutingError";
  readonly retryable = false;
  readonly node: string;

  constructor(node: string, message: string) {
    super(`after node ${node}: ${message}`);
    this.node = node;
  }
}

/**
 * Whether `thrown` says that a side effect may or may not have happened. Decided
 * by name, because a helper may have its own copy of this package.
 */
export function isEffectUnknown(thrown: unknown): boolean {
  return memberOf(thrown, "name") === "EffectUnknown";
}

/** False for an error named `NonRetryableError` and for one with `retryable: false`. */
export function isRetryable(thrown: unknown): boolean {
  return (
    memberOf(thrown, "name") !== "NonRetryableError" && memberOf(thrown, "retryable") !== false
  );
}

/** Reads one member of anything at all, without ever throwing. */
function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}
