import type { Resolve } from "../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import type {
  LoadFailedSchema,
  ResolvedSchema,
} from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { describeError } from "../workflow/describe-error.ts";
import { toJson } from "../workflow/json.ts";
import type { Workflow } from "../workflow/define-workflow.ts";
import { schemaProblems } from "./definition/answer-schemas.ts";
import {
  loadDefinition,
  prepareLoader,
  SourceChangedError,
  verifySources,
  warmLoader,
} from "./definition/load.ts";
import type { LoadedDefinition, SourceRecord } from "./definition/load.ts";
import { fixedTimeout, hostLimit } from "./engine/attempt.ts";
import { titleOf } from "./title.ts";
import { wireGraph, wireProblem, wireSource } from "./to-wire.ts";

export type LoadFailure = MessageInitShape<typeof LoadFailedSchema>;

/** Thrown when a workflow cannot be loaded or takes no such input. */
export class CannotLoad extends Error {
  override readonly name = "CannotLoad";
  readonly failure: LoadFailure;

  constructor(failure: LoadFailure) {
    super(failure.message ?? "");
    this.failure = failure;
  }
}

export interface Files {
  readonly workflowPath: string;
  readonly projectDir: string;
  readonly cacheDir: string;
}

export interface Recorded {
  readonly sources: readonly SourceRecord[];
  /** Bytes to run instead of the disk's, by digest. */
  readonly bytes?: ReadonlyMap<string, Uint8Array>;
}

/** Holds the one workflow that this process ever loads. */
export class Workshop {
  #files: Files | undefined;
  #loaded: LoadedDefinition | undefined;
  #fresh: SourceRecord[] = [];

  /** Has ready what every load needs, while nobody waits for it. */
  async prepare(): Promise<void> {
    await prepareLoader();
  }

  /** Has ready what only a first load needs. Takes a process, until that load or the end. */
  async warmUp(): Promise<void> {
    await warmLoader();
  }

  /** Loads the file, or checks that what was loaded before is still what is on disk. */
  async load(files: Files, recorded?: Recorded): Promise<LoadedDefinition> {
    if (this.#loaded !== undefined) return await this.#reuse(files, this.#loaded, recorded);
    enter(files.projectDir);
    const loaded = await this.#evaluate(files, recorded);
    this.#files = files;
    this.#loaded = loaded;
    return loaded;
  }

  /** Does what `resolve` asks for, short of calling the author's code. */
  async rehearse(files: Files): Promise<void> {
    await resolve(this, { ...files, inputJson: new Uint8Array() });
  }

  /** The same for what this very process loaded and compared a moment ago. */
  async keep(files: Files, recorded: Recorded): Promise<LoadedDefinition> {
    return this.#loaded ?? (await this.load(files, recorded));
  }

  /** Whether it loaded these very sources: then comparing those with the disk compares these. */
  holds(sources: readonly SourceRecord[]): boolean {
    const loaded = new Map(this.#loaded?.sources.map((source) => [source.path, source]));
    return sources.every(({ path, digest, packageVersion }) => {
      const own = loaded.get(path);
      return own?.digest === digest && own.packageVersion === packageVersion;
    });
  }

  async #evaluate(files: Files, recorded: Recorded | undefined): Promise<LoadedDefinition> {
    return await loadDefinition({
      entryPath: files.workflowPath,
      projectDir: files.projectDir,
      cacheDir: files.cacheDir,
      ...(recorded === undefined ? {} : { recorded: recorded.sources }),
      ...(recorded?.bytes === undefined ? {} : { recordedBytes: lookup(recorded.bytes) }),
      onSource: (source) => this.#fresh.push(source),
    }).catch((thrown: unknown) => {
      if (!(thrown instanceof SourceChangedError)) throw thrown;
      throw sourceChanged(thrown.differences);
    });
  }

  /** Files that were loaded since it was last asked and are not recorded yet. */
  takeNewSources(recorded: ReadonlySet<string>): SourceRecord[] {
    const fresh = this.#fresh.filter(({ path }) => !recorded.has(path));
    this.#fresh = [];
    return fresh;
  }

  async #reuse(
    files: Files,
    loaded: LoadedDefinition,
    recorded: Recorded | undefined,
  ): Promise<LoadedDefinition> {
    const same =
      this.#files?.workflowPath === files.workflowPath &&
      this.#files.projectDir === files.projectDir &&
      recorded?.bytes === undefined;
    const changed = same ? await verifySources(loaded.sources) : [{ path: files.workflowPath }];
    if (changed.length === 0) return loaded;
    throw sourceChanged(changed);
  }
}

/** The refusal that names the files. */
export function sourceChanged(
  changed: readonly { readonly path: string; readonly message?: string }[],
): CannotLoad {
  const message = changed.map(({ path, message: said }) => said ?? `${path} differs`).join("; ");
  return new CannotLoad({
    reason: Reason.SOURCE_CHANGED,
    message,
    files: changed.map(({ path }) => path),
  });
}

/** Compares all recorded sources with the disk, before anything of them is evaluated. */
export async function requireUnchanged(sources: readonly SourceRecord[]): Promise<void> {
  const changed = await verifySources(sources);
  if (changed.length > 0) throw sourceChanged(changed);
}

/** The workflow of a load, or all that is wrong with it. */
export function requireSound(loaded: LoadedDefinition): {
  readonly workflow: Workflow;
  readonly graph: Workflow["graph"];
} {
  const { workflow, graph, problems, warnings } = loaded;
  if (workflow !== undefined && graph !== undefined && problems.length === 0)
    return { workflow, graph };
  throw new CannotLoad({
    reason: Reason.WORKFLOW_INVALID,
    message: `the workflow file has ${problems.length === 1 ? "1 problem" : `${problems.length} problems`}`,
    problems: problems.map(wireProblem),
    warnings: warnings.map(wireProblem),
  });
}

/** Answers `resolve`: what the file holds, and what it makes of the input. */
export async function resolve(
  workshop: Workshop,
  order: Files & Pick<Resolve, "inputJson">,
): Promise<MessageInitShape<typeof ResolvedSchema>> {
  const loaded = await workshop.load(order);
  const { workflow, graph } = requireSound(await withSchemas(loaded, order.workflowPath));
  const sources = loaded.sources.map(wireSource);
  const warnings = loaded.warnings.map(wireProblem);
  const base = { sources, graph: wireGraph(graph), warnings };
  if (order.inputJson.length === 0) return base;
  const inputJson = acceptInput(workflow, Buffer.from(order.inputJson).toString());
  const title = await titleOf(workflow, JSON.parse(inputJson) as unknown);
  return { ...base, inputJson: Buffer.from(inputJson), title, ...firstAttempt(workflow) };
}

/** A deadline that the author computes may depend on the run, which is not there yet. */
function firstAttempt({
  graph,
  nodes,
}: Workflow): Pick<MessageInitShape<typeof ResolvedSchema>, "first"> {
  const node = nodes[graph.startAt];
  const timeout = node === undefined ? undefined : fixedTimeout(node);
  if (timeout === undefined) return {};
  const { timeoutMs } = hostLimit(timeout);
  return { first: timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) } };
}

async function withSchemas(loaded: LoadedDefinition, file: string): Promise<LoadedDefinition> {
  if (loaded.workflow === undefined) return loaded;
  const problems = await schemaProblems(loaded.workflow, file);
  return { ...loaded, problems: [...loaded.problems, ...problems] };
}

function acceptInput(workflow: Workflow, inputJson: string): string {
  const given = JSON.parse(inputJson) as unknown;
  try {
    const accepted = workflow.input === undefined ? given : workflow.input(given);
    if (isPromise(accepted)) throw new TypeError("`input` must not be async");
    return JSON.stringify(toJson(accepted, "input"));
  } catch (thrown) {
    const { message } = describeError(thrown);
    throw new CannotLoad({
      reason: Reason.INPUT_INVALID,
      message: `workflow ${workflow.name} refuses the input: ${message}`,
    });
  }
}

function enter(projectDir: string): void {
  try {
    process.chdir(projectDir);
  } catch (thrown) {
    throw new CannotLoad({
      reason: Reason.WORKFLOW_INVALID,
      message: `the project directory ${projectDir} cannot be entered: ${describeError(thrown).message}`,
      problems: [{ message: "the project directory cannot be entered", file: projectDir }],
    });
  }
}

function lookup(
  bytes: ReadonlyMap<string, Uint8Array>,
): (digest: string) => Uint8Array | undefined {
  return (digest) => bytes.get(digest);
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}
