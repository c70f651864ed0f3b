import { ResumeRunResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { SourcePolicy } from "../../gen/piworkflows/host/v1/run_choices_pb.ts";
import { UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { KEY_OPTION, newCommand, printResponse, RUN, runLine } from "./shared.ts";

export const command: Command = {
  description:
    "Lets a paused or blocked run go on. When a source file has changed since the run started,\n" +
    "say what it shall run.",
  positionals: [RUN],
  options: {
    "recorded-source": { type: "boolean", help: "Run the recorded files, not those on disk" },
    "accept-source": {
      type: "boolean",
      help: "Run the files on disk, if what is committed still fits them",
    },
    key: KEY_OPTION,
  },
  examples: [
    ["resume run_01jd", "go on"],
    ["resume run_01jd --recorded-source", "go on with the files the run began with"],
  ],
  async run(args, cli) {
    const request = {
      command: newCommand(args.text("key")),
      runId: args.required(0),
      sourcePolicy: policyOf(args),
    };
    const client = await cli.connect();
    const response = await client.call(({ runs }) => runs.resumeRun(request));
    printResponse(cli, ResumeRunResponseSchema, response, () => [runLine(response.run, cli)]);
    return ExitCode.success;
  },
};

function policyOf(args: Arguments): SourcePolicy {
  const recorded = args.flag("recorded-source");
  const accept = args.flag("accept-source");
  if (recorded && accept) {
    throw new UsageError("--recorded-source and --accept-source exclude each other");
  }
  if (recorded) return SourcePolicy.RECORDED;
  return accept ? SourcePolicy.ACCEPT : SourcePolicy.UNSPECIFIED;
}
