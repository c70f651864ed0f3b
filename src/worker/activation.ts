import type { StateValue, Bootstrap } from "../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { StateKind } from "../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import { AttemptStatus } from "../gen/piworkflows/common/v1/attempt_pb.ts";
import type { Source } from "../gen/piworkflows/common/v1/source_pb.ts";
import type { Outcome } from "../workflow/route.ts";
import { RunState } from "./engine/run-state.ts";

/** Gathers the frames that come between `bootstrap` and `begin`. */
export class Gathering {
  readonly bootstrap: Bootstrap;
  readonly #state: StateValue[] = [];
  readonly #sources: Source[] = [];

  constructor(bootstrap: Bootstrap) {
    this.bootstrap = bootstrap;
  }

  addState(value: StateValue): void {
    this.#state.push(value);
  }

  addSource(source: Source): void {
    this.#sources.push(source);
  }

  get complete(): boolean {
    const { stateFrames, sourceFrames } = this.bootstrap;
    return this.#state.length >= stateFrames && this.#sources.length >= sourceFrames;
  }

  /** The recorded bytes by digest, for a run that goes on with them. */
  recordedBytes(): ReadonlyMap<string, Uint8Array> {
    return new Map(this.#sources.map(({ digest, content }) => [digest, content]));
  }

  /** The submitted value as JSON text, when there is one to be validated. */
  submissionJson(): string | undefined {
    const submission = this.#state.find(({ kind }) => kind === StateKind.SUBMISSION);
    return submission === undefined ? undefined : text(submission.json);
  }

  /** The run's values as the engine holds them. */
  runState(): RunState {
    const { runId, workflow, projectDir } = this.bootstrap;
    const input = this.#state.find(({ kind }) => kind === StateKind.INPUT);
    const state = new RunState({ runId, workflow, projectDir }, text(input?.json) || "null");
    for (const value of this.#state) if (value.kind === StateKind.RESULT) record(state, value);
    return state;
  }
}

function record(state: RunState, value: StateValue): void {
  const { node, json, error, attempt, visit } = value;
  const outcome = OUTCOMES[value.status];
  if (outcome === undefined) return;
  state.record(node, {
    outcome,
    ...(outcome === "ok" ? { outputJson: text(json) } : {}),
    ...(error === undefined ? {} : { error: withoutEmptyStack(error) }),
    visit,
    attempt,
    startedAtMs: Number(value.startedAtMs),
    finishedAtMs: Number(value.finishedAtMs),
  });
}

const OUTCOMES: Partial<Record<AttemptStatus, Outcome>> = {
  [AttemptStatus.OK]: "ok",
  [AttemptStatus.FAILED]: "failed",
  [AttemptStatus.TIMED_OUT]: "timed_out",
  [AttemptStatus.CANCELLED]: "cancelled",
};

function withoutEmptyStack(error: { name: string; message: string; stack: string }): {
  name: string;
  message: string;
  stack?: string;
} {
  const { name, message, stack } = error;
  return stack === "" ? { name, message } : { name, message, stack };
}

function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "" : Buffer.from(bytes).toString();
}
