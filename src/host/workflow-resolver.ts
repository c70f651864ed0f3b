/** The resolver as handlers use it: names become files, refusals become answers. */
import { findWorkflow } from "../platform/workflow-files.ts";
import { HostError } from "./errors.ts";
import type { WorkflowResolver } from "./handlers/parts.ts";
import type { Resolver } from "./resolver.ts";
import type { Scheduler } from "./scheduler.ts";

export function createWorkflowResolver(
  resolver: Resolver,
  scheduler: Pick<Scheduler, "offer" | "withdraw">,
): WorkflowResolver {
  return {
    find(workflow, projectDir) {
      const found = findWorkflow(workflow, projectDir);
      if ("path" in found) return found.path;
      throw notFound(workflow, projectDir, found.nearNames);
    },
    async load(request) {
      const { resolved, worker } = await resolver.resolve(request);
      const { first } = resolved;
      let offeredTo: string | undefined;
      return {
        ...resolved,
        offerTo: (runId) => {
          offeredTo = runId;
          scheduler.offer(runId, { worker, ...(first === undefined ? {} : { first }) });
        },
        discard: () => {
          if (offeredTo === undefined) resolver.release(worker);
          else scheduler.withdraw(offeredTo);
        },
      };
    },
    inspect: (want) => resolver.inspect(want),
  };
}

function notFound(workflow: string, projectDir: string, names: readonly string[]): HostError {
  const near = names.length === 0 ? "" : `; near: ${names.join(", ")}`;
  const message = `there is no workflow "${workflow}" for ${projectDir}${near}`;
  return new HostError("WORKFLOW_NOT_FOUND", message, { names });
}
