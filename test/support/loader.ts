import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import type {
  LoadProblem,
  RecordedSource,
  SourceDifference,
} from "../../src/worker/definition/load.ts";
import type { ErrorDescription } from "../../src/workflow/describe-error.ts";
import type { Graph } from "../../src/workflow/graph.ts";
import type { LoadRequest } from "../fixtures/children/loads-definitions.ts";
import { onFileFinished } from "./file-end.ts";
import type { Played } from "./play.ts";

export interface LoadReply {
  readonly problems: readonly LoadProblem[];
  readonly warnings: readonly LoadProblem[];
  readonly graph?: Graph;
  readonly results: readonly {
    readonly value?: unknown;
    readonly error?: ErrorDescription;
    readonly changed?: readonly SourceDifference[];
  }[];
  readonly sources: readonly (RecordedSource & { readonly text?: string; readonly size: number })[];
  readonly played?: Played;
  readonly changed?: readonly SourceDifference[];
  readonly differences?: readonly SourceDifference[];
  readonly crashed?: ErrorDescription;
}

const CHILD = join(import.meta.dirname, "../fixtures/children/loads-definitions.ts");

interface Loader {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly replies: AsyncIterator<string>;
}

let child: Loader | undefined;

/** Ends the loading process; the next request gets a new one, as the next run gets a new worker. */
export async function endLoader(): Promise<void> {
  if (child === undefined) return;
  const ended = once(child.process, "exit");
  child.process.stdin.end();
  await ended;
  child = undefined;
}

/** Asks the loading process, which all tests of a file share; each uses files of its own. */
export async function load(request: LoadRequest): Promise<LoadReply> {
  child ??= startLoader();
  child.process.stdin.write(`${JSON.stringify(request)}\n`);
  const reply = await child.replies.next();
  if (reply.done === true) throw new Error("the loading process has ended");
  return JSON.parse(reply.value) as LoadReply;
}

function startLoader(): Loader {
  const started = spawn(process.execPath, [CHILD], { stdio: ["pipe", "pipe", "inherit"] });
  onFileFinished(endLoader);
  const lines = createInterface({ input: started.stdout });
  return { process: started, replies: lines[Symbol.asyncIterator]() };
}

/** A project folder with files, removed when the test is over. */
export interface Project {
  readonly folder: string;
  path(name: string): string;
  write(files: Readonly<Record<string, string>>): void;
  remove(name: string): void;
  /** A request for the file `w.workflow.ts` unless another one is named. */
  request(fields?: Partial<LoadRequest> & { readonly entry?: string }): LoadRequest;
}

export function createProject(files: Readonly<Record<string, string>>): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "proj-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  // Spaces and other letters must never matter.
  const folder = join(root, "prøject with space");
  const project: Project = {
    folder,
    path: (name) => join(folder, name),
    write(added) {
      for (const [name, text] of Object.entries(added)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
    },
    remove: (name) => rmSync(join(folder, name), { recursive: true }),
    request({ entry = "w.workflow.ts", ...fields } = {}) {
      const entryPath = join(folder, entry);
      return { entryPath, projectDir: folder, cacheDir: join(root, "cache"), ...fields };
    },
  };
  project.write(files);
  return project;
}

/** A workflow file with one node `n` that returns the value of an expression. */
export function workflowText(expression: string, head = ""): string {
  return `import { compute, defineWorkflow } from "pi-workflows";
${head}
export default defineWorkflow({
  name: "w",
  startAt: "n",
  nodes: { n: compute({ run: async () => (${expression}) }) },
});
`;
}
