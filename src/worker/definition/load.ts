import { init } from "es-module-lexer";
import { resolve } from "node:path";
import { isWorkflow } from "../../workflow/define-workflow.ts";
import type { Workflow } from "../../workflow/define-workflow.ts";
import type { Graph } from "../../workflow/graph.ts";
import { installSession } from "./hooks.ts";
import { realFile } from "./local-path.ts";
import { problemsOf, warningsOf } from "./problems.ts";
import type { LoadProblem } from "./problems.ts";
import type { Recorded } from "./project-file.ts";
import { LoadSession } from "./session.ts";
import { SourceChangedError } from "./sources.ts";
import type { RecordedSource, SourceRecord } from "./sources.ts";
import { createTransformer, loadEsbuild, startEsbuild } from "./transform.ts";
import { walk } from "./walk.ts";

export { SourceChangedError, verifySources } from "./sources.ts";
export type { RecordedSource, SourceDifference, SourceRecord } from "./sources.ts";
export type { LoadProblem } from "./problems.ts";

export interface LoadOptions {
  readonly entryPath: string;
  readonly projectDir: string;
  /** Folder for transformed sources; made when it is needed. */
  readonly cacheDir: string;
  /** What the run recorded: a file that differs is refused in place of being evaluated. */
  readonly recorded?: readonly RecordedSource[];
  /** Gives recorded bytes, which are then evaluated instead of the disk's. */
  readonly recordedBytes?: (digest: string) => Uint8Array | undefined;
  /** Called for each source as it is about to be loaded, also later, while nodes run. */
  readonly onSource: (source: SourceRecord) => void;
}

export interface LoadedDefinition {
  /** Absent when there are problems. */
  readonly workflow?: Workflow;
  readonly graph?: Graph;
  readonly problems: readonly LoadProblem[];
  readonly warnings: readonly LoadProblem[];
  /** Everything loaded so far, in the order of loading. */
  readonly sources: readonly SourceRecord[];
}

/** Loads what every load needs, so that a waiting worker has it ready. Starts no process. */
export async function prepareLoader(): Promise<void> {
  // Errors of workflow files then name the line that the author wrote.
  process.setSourceMapsEnabled(true);
  loadEsbuild();
  await init();
}

/** Not known to the bundler, which would take the import for one of its own. */
const EMPTY_MODULE: string = "data:text/javascript,";

/**
 * Does beforehand what a first load waits for longest: starts the compiler, which
 * that load ends, and has Node make ready what imports a module.
 */
export async function warmLoader(): Promise<void> {
  await Promise.all([startEsbuild(), import(EMPTY_MODULE)]);
}

/**
 * Loads a workflow file and everything it imports, and returns what it defines.
 *
 * A fault in the files is returned as problems. A source that is not the one
 * that was recorded throws `SourceChangedError`, before any module runs when it
 * is reached by static imports, else before that module runs.
 */
export async function loadDefinition(options: LoadOptions): Promise<LoadedDefinition> {
  process.setSourceMapsEnabled(true);
  await init();
  const recorded = recordedOf(options);
  const found = realFile(options.entryPath);
  const entry = found ?? resolve(options.entryPath);
  const session = new LoadSession({
    entry,
    projectDir: resolve(options.projectDir),
    recorded,
    transformer: createTransformer(options.cacheDir),
    onSource: options.onSource,
  });
  if (found === undefined && !session.hasRecordedBytes(entry)) return nowhere(session);
  try {
    const problems = await walk(session);
    if (problems.length > 0) return outcome(session, { problems });
    installSession(session);
    return await evaluate(session);
  } finally {
    await session.transformer.stop();
  }
}

/** A file that a run recorded and that is gone has changed; any other was never there. */
function nowhere(session: LoadSession): LoadedDefinition {
  const { entry, recorded } = session;
  if (recorded.source(entry) !== undefined)
    throw new SourceChangedError([
      { path: entry, change: "missing", message: `${entry} is missing` },
    ]);
  return outcome(session, { problems: [{ message: "there is no such file", file: entry }] });
}

function recordedOf({ recorded = [], recordedBytes }: LoadOptions): Recorded {
  const byPath = new Map(recorded.map((source) => [source.path, source]));
  return {
    source: (path) => byPath.get(path),
    ...(recordedBytes === undefined ? {} : { bytes: recordedBytes }),
  };
}

async function evaluate(session: LoadSession): Promise<LoadedDefinition> {
  let module: { readonly default?: unknown };
  try {
    // What a module holds is not known before it is looked at.
    module = (await import(session.entryUrl)) as { readonly default?: unknown };
  } catch (thrown) {
    if (thrown instanceof SourceChangedError) throw thrown;
    return outcome(session, {
      problems: await problemsOf(session, thrown),
      warnings: warningsOf(session, thrown),
    });
  }
  const workflow = workflowOf(module.default);
  if (workflow !== undefined) return outcome(session, { workflow });
  const message = isNothing(module.default)
    ? "has no default export; write `export default defineWorkflow({ … })`"
    : "its default export is not made by defineWorkflow()";
  return outcome(session, { problems: [{ message, file: session.entry }] });
}

/** A CommonJS file that was compiled from a module has its default export one level down. */
function workflowOf(exported: unknown): Workflow | undefined {
  if (isWorkflow(exported)) return exported;
  const inner: unknown =
    typeof exported === "object" && exported !== null && "default" in exported
      ? exported.default
      : undefined;
  return isWorkflow(inner) ? inner : undefined;
}

/** A CommonJS file that exports nothing has an empty object as its default export. */
function isNothing(exported: unknown): boolean {
  if (exported === undefined) return true;
  return typeof exported === "object" && exported !== null && Object.keys(exported).length === 0;
}

function outcome(
  session: LoadSession,
  found: {
    readonly workflow?: Workflow;
    readonly problems?: readonly LoadProblem[];
    readonly warnings?: readonly LoadProblem[];
  },
): LoadedDefinition {
  const { workflow, problems = [], warnings = [] } = found;
  const file = session.entry;
  return {
    ...(workflow === undefined ? {} : { workflow, graph: workflow.graph }),
    problems,
    warnings: workflow?.warnings.map((warning) => ({ ...warning, file })) ?? warnings,
    sources: session.sources,
  };
}
