import { RestartRunResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { KEY_OPTION, newCommand, noteWarnings, printResponse, RUN } from "./shared.ts";

export const command: Command = {
  description:
    "Starts a new run of the same workflow with the same input. The old run stays as it is;\n" +
    "nothing of what it did is copied. Prints the id of the new run.",
  positionals: [RUN],
  options: { key: KEY_OPTION },
  examples: [["restart run_01jd", "once more from the beginning"]],
  async run(args, cli) {
    const request = { command: newCommand(args.text("key")), runId: args.required(0) };
    const client = await cli.connect();
    const response = await client.call(({ runs }) => runs.restartRun(request));
    noteWarnings(cli, response.warnings);
    const runId = response.receipt?.runId ?? "";
    printResponse(cli, RestartRunResponseSchema, response, () => [runId]);
    return ExitCode.success;
  },
};
