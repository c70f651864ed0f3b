/** Having the host look at a workflow file. */
import { isAbsolute, resolve } from "node:path";
import type { ValidateWorkflowResponse } from "../gen/piworkflows/host/v1/run_service_pb.ts";
import { isWorkflowPath } from "../platform/workflow-files.ts";
import type { Cli } from "./command.ts";

/** What the host finds in a file or in the workflow of a name. Problems are no error here. */
export async function validateWorkflow(
  cli: Cli,
  given: string,
  project = ".",
): Promise<ValidateWorkflowResponse> {
  const request = {
    workflow: isWorkflowPath(given) && !isAbsolute(given) ? resolve(cli.cwd, given) : given,
    projectDir: resolve(cli.cwd, project),
  };
  const client = await cli.connect();
  return await client.call(({ runs }) => runs.validateWorkflow(request));
}
