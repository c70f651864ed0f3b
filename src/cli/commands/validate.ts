import { ValidateWorkflowResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { ValidateWorkflowResponse } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { problemLine } from "../report-error.ts";
import { plural, safe } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import { validateWorkflow } from "../validate-workflow.ts";

export const command: Command = {
  description:
    "Loads a workflow file and reports all its problems, with the line where it is known.\n" +
    "Stores nothing and runs no node; the file's own top level is run in a worker. Exit code 2\n" +
    "when there are problems; warnings are none.",
  positionals: [{ name: "FILE|NAME", completes: "workflow" }],
  options: { project: { type: "string", value: "DIR", help: "Folder the name is looked up in" } },
  examples: [["validate notes.workflow.ts", "is it sound?"]],
  async run(args, cli) {
    const response = await validateWorkflow(cli, args.required(0), args.text("project"));
    if (cli.json) cli.out.json(messageJson(ValidateWorkflowResponseSchema, response));
    else print(cli, response);
    return response.problems.length === 0 ? ExitCode.success : ExitCode.usage;
  },
};

function print(
  { out }: Cli,
  { problems, warnings, graph, workflowPath }: ValidateWorkflowResponse,
): void {
  for (const problem of problems)
    out.line(`${out.style("red", "problem")}  ${problemLine(problem)}`);
  for (const warning of warnings)
    out.line(`${out.style("yellow", "warning")}  ${problemLine(warning)}`);
  if (problems.length > 0) {
    out.line(`${safe(workflowPath)}: ${plural(problems.length, "problem")}`);
    return;
  }
  const nodes = plural(graph?.nodes.length ?? 0, "node");
  out.line(
    `${safe(workflowPath)}: ${out.style("green", "sound")}, ${safe(graph?.name ?? "")} with ${nodes}`,
  );
}
