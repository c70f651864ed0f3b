/** Has workflow files loaded by workers, for a start or a check. */
import { StopReason } from "../gen/piworkflows/worker/v1/answers_pb.ts";
import type { LoadFailed, Resolved } from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { Clock } from "../platform/clock.ts";
import { HostError } from "./errors.ts";
import {
  MalformedFrame,
  loadFailureRecord,
  jsonBytes,
  resolvedRecord,
  response,
} from "./handlers/worker-convert.ts";
import type { LoadFailureRecord, ResolvedRecord } from "./handlers/worker-convert.ts";
import {
  GRAPH_NODES_MAX,
  KILL_GRACE_MS,
  OUTPUT_TAIL_BYTES,
  RESOLVE_DEADLINE_MS,
  RESOLVE_QUEUE_MAX,
  RESOLVERS_MAX,
} from "./limits.ts";
import { SpawnFailed } from "./supervisor/supervised-worker.ts";
import type {
  ExitCause,
  SupervisedWorker,
  WantedWorkflow,
  Wish,
  WorkerExit,
} from "./supervisor/supervised-worker.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";

export interface ResolveRequest extends WantedWorkflow {
  /** Absent when only the file is checked. */
  readonly inputJson?: string;
}

/** What the file holds, and the worker that has it loaded. */
export interface Resolution {
  readonly resolved: ResolvedRecord;
  /** To be offered to the scheduler or released. */
  readonly worker: SupervisedWorker;
}

export type Inspection =
  | { readonly kind: "resolved"; readonly resolved: ResolvedRecord }
  | { readonly kind: "failed"; readonly failure: LoadFailureRecord };

export interface Resolver {
  /**
   * Refuses with WORKFLOW_INVALID, INPUT_INVALID or LIMIT_EXCEEDED for what is asked, with
   * WORKER_FAILED, VERSION_SKEW or HOST_STOPPING where no worker could look at it.
   */
  resolve(request: ResolveRequest): Promise<Resolution>;
  /** The same without an input, telling all findings; keeps no worker. */
  inspect(want: WantedWorkflow): Promise<Inspection>;
  /** Gives back a worker that no run will use. */
  release(worker: SupervisedWorker): void;
  /** Refuses whoever waits, and everybody after. */
  stop(): void;
}

export interface ResolverOptions {
  readonly clock: Clock;
  readonly supervisor: Pick<Supervisor, "acquire">;
  /** Folder for transformed sources. */
  readonly cacheDir: string;
}

export function createResolver(options: ResolverOptions): Resolver {
  return new WorkerResolver(options);
}

type Loaded =
  | {
      readonly kind: "resolved";
      readonly resolved: ResolvedRecord;
      readonly worker: SupervisedWorker;
    }
  | { readonly kind: "failed"; readonly failure: LoadFailureRecord };

class WorkerResolver implements Resolver {
  readonly #options: ResolverOptions;
  readonly #waiting: (() => void)[] = [];
  #loading = 0;
  #stopping = false;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  async resolve(request: ResolveRequest): Promise<Resolution> {
    const loaded = await this.#load(request);
    if (loaded.kind === "failed") throw refusalOf(loaded.failure);
    return { resolved: loaded.resolved, worker: loaded.worker };
  }

  async inspect(want: WantedWorkflow): Promise<Inspection> {
    const loaded = await this.#load(want);
    if (loaded.kind === "failed") return loaded;
    this.release(loaded.worker);
    return { kind: "resolved", resolved: loaded.resolved };
  }

  release(worker: SupervisedWorker): void {
    worker.stop(StopReason.RETIRED, KILL_GRACE_MS);
  }

  stop(): void {
    this.#stopping = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #load(request: ResolveRequest): Promise<Loaded> {
    await this.#turn();
    try {
      return await this.#loadIn(request, await this.#acquire(request));
    } finally {
      // Whoever waited longest takes over the place itself, so that nobody can slip in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#loading -= 1;
      else next();
    }
  }

  /** Waits for one of the places; refuses when too many wait already. */
  async #turn(): Promise<void> {
    if (this.#stopping) throw stoppingRefusal();
    if (this.#loading < RESOLVERS_MAX) {
      this.#loading += 1;
      return;
    }
    const actual = this.#waiting.length + 1;
    if (actual > RESOLVE_QUEUE_MAX) {
      const message = `${RESOLVE_QUEUE_MAX} starts wait for their files to be loaded; try again later`;
      throw new HostError("LIMIT_EXCEEDED", message, { limit: RESOLVE_QUEUE_MAX, actual });
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
    if (this.#stopping) throw stoppingRefusal();
  }

  async #loadIn(
    request: ResolveRequest,
    worker: SupervisedWorker,
    isLast = false,
  ): Promise<Loaded> {
    const wasPreloaded = worker.preloadedFor !== undefined;
    const answer = await askWorker(worker, request, this.#options);
    if ("resolved" in answer) return { kind: "resolved", resolved: answer.resolved, worker };
    this.release(worker);
    // A spare that loaded the file before it was edited knows no better: another one does.
    const fresh = wasPreloaded && answer.failed.reason === "SOURCE_CHANGED";
    // Says nothing about the file, unless the next worker ends so too.
    const cause = worker.exit?.cause;
    const isChance = cause !== undefined && CHANCES.has(cause);
    if (isLast || !(fresh || isChance)) return blamed(answer.failed, cause);
    return await this.#loadIn(request, await this.#acquire({ ...request, fresh }), true);
  }

  async #acquire(wish: Wish, isLast = false): Promise<SupervisedWorker> {
    const { workflowPath, projectDir, fresh = false } = wish;
    try {
      return await this.#options.supervisor.acquire({ workflowPath, projectDir, fresh });
    } catch (error) {
      if (!(error instanceof SpawnFailed)) throw error;
      if (CHANCES.has(error.cause) && !isLast) return await this.#acquire(wish, true);
      throw workerRefusal(error.cause, error.message);
    }
  }
}

/** Somebody outside ended it or its stream, or held it up: the next may fare better. */
const CHANCES: ReadonlySet<SpawnFailed["cause"]> = new Set(["signal", "disconnected", "handshake"]);

type Answer = { readonly resolved: ResolvedRecord } | { readonly failed: LoadFailureRecord };

/** Asks one worker, which answers, dies, or takes too long and is ended. */
function askWorker(
  worker: SupervisedWorker,
  request: ResolveRequest,
  { clock, cacheDir }: ResolverOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let lastWords: string | undefined;
    const settle = (give: () => Answer): void => {
      timer.cancel();
      try {
        resolve(give());
      } catch (error) {
        worker.kill();
        reject(error instanceof MalformedFrame ? workerRefusal("protocol", error.message) : error);
      }
    };
    const timer = clock.after(RESOLVE_DEADLINE_MS, () => {
      worker.kill();
      settle(() => failed(TOOK_TOO_LONG));
    });
    worker.onEnd((exit) => settle(() => failed(lastWords ?? endedWords(worker, exit))));
    worker.onFrame(({ body }) => {
      if (body.case === "resolved") settle(() => accepted(body.value));
      else if (body.case === "loadFailed") settle(() => refused(body.value));
      else if (body.case === "exiting") lastWords = body.value.failure?.message;
    });
    const { workflowPath, projectDir, inputJson } = request;
    const input = inputJson === undefined ? {} : { inputJson: jsonBytes(inputJson) };
    worker.send(
      response({ case: "resolve", value: { workflowPath, projectDir, cacheDir, ...input } }),
    );
  });
}

function accepted(value: Resolved): Answer {
  const resolved = resolvedRecord(value);
  const nodes = resolved.graph.nodes.length;
  if (nodes <= GRAPH_NODES_MAX) return { resolved };
  return failed(`the workflow has ${nodes} nodes; at most ${GRAPH_NODES_MAX} are allowed`);
}

function refused(value: LoadFailed): Answer {
  return { failed: loadFailureRecord(value) };
}

function failed(message: string): Answer {
  const problems = [{ message }];
  return { failed: { reason: "WORKFLOW_INVALID", message, problems, files: [], warnings: [] } };
}

const TOOK_TOO_LONG =
  `the file took longer than ${RESOLVE_DEADLINE_MS / 1_000} s to load; ` +
  "a workflow file must not wait or compute while it is imported";

function endedWords(worker: SupervisedWorker, exit: WorkerExit): string {
  const tail = worker.outputTail(OUTPUT_TAIL_BYTES).trim();
  const said = tail === "" ? "it printed nothing" : `its output ended with:\n${tail}`;
  return `the process that loaded the file ${exit.reason}; ${said}`;
}

function refusalOf({ reason, message, problems, files }: LoadFailureRecord): HostError {
  return new HostError(reason, message, { problems, names: files });
}

/** Ends of a worker that say nothing about the file it loaded. */
const BLAMELESS: ReadonlySet<ExitCause> = new Set(["stopped", "disconnected", "protocol"]);

/** The file is to blame for how its worker ended, unless that was the worker's or our doing. */
function blamed(failure: LoadFailureRecord, cause: ExitCause | undefined): Loaded {
  if (cause !== undefined && BLAMELESS.has(cause)) throw workerRefusal(cause, failure.message);
  return { kind: "failed", failure };
}

/** No worker looked at the file, for this cause. */
function workerRefusal(cause: SpawnFailed["cause"], message: string): HostError {
  if (cause === "stopping" || cause === "stopped") return stoppingRefusal();
  return new HostError(cause === "version" ? "VERSION_SKEW" : "WORKER_FAILED", message);
}

function stoppingRefusal(): HostError {
  return new HostError("HOST_STOPPING", "the host is stopping; call again");
}
