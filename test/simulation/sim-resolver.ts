/** Loads the simulated workflow without a file: what a file holds is the world's to say. */
import { createHash } from "node:crypto";
import type {
  LoadRequest,
  LoadedWorkflow,
  WorkflowResolver,
} from "../../src/host/handlers/parts.ts";
import type { Scheduler } from "../../src/host/scheduler.ts";
import { SIM_GRAPH } from "./graph.ts";
import type { SimWorker } from "./sim-worker.ts";

/** The one workflow file of a world, which lies on the disk because a resume looks at it there. */
export interface WorkflowFile {
  readonly path: string;
  content: string;
}

export function digestOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

interface ResolverOptions {
  readonly file: WorkflowFile;
  readonly scheduler: Pick<Scheduler, "offer" | "withdraw">;
  /** A worker that resolved the file, or none: then the run finds another. */
  readonly offered: () => SimWorker | undefined;
}

export class SimResolver implements WorkflowResolver {
  readonly #options: ResolverOptions;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  find(): string {
    return this.#options.file.path;
  }

  async load({ inputJson }: LoadRequest): Promise<LoadedWorkflow> {
    await Promise.resolve();
    const { file, scheduler, offered } = this.#options;
    const content = Buffer.from(file.content);
    const digest = digestOf(file.content);
    const worker = offered();
    let runIdOffered = "";
    return {
      graph: SIM_GRAPH,
      sources: [{ path: file.path, kind: "file", digest, size: content.length, content }],
      inputJson,
      title: "a simulated run",
      warnings: [],
      offerTo: (runId) => {
        runIdOffered = runId;
        if (worker !== undefined) scheduler.offer(runId, { worker, first: {} });
      },
      discard: () => {
        if (runIdOffered === "") worker?.kill();
        else scheduler.withdraw(runIdOffered);
      },
    };
  }

  async inspect(): ReturnType<WorkflowResolver["inspect"]> {
    await Promise.resolve();
    const resolved = { graph: SIM_GRAPH, sources: [], inputJson: "null", title: "", warnings: [] };
    return { kind: "resolved", resolved };
  }
}
