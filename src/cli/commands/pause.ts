import { PauseRunResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { KEY_OPTION, newCommand, printResponse, RUN, runLine } from "./shared.ts";

export const command: Command = {
  description:
    "Pauses a run. Nothing of it happens until it is resumed: no timer fires, nothing can be\n" +
    "answered. A node that is computing is aborted and runs again on resume; an effect that is\n" +
    "being applied is waited for.",
  positionals: [RUN],
  options: {
    now: {
      type: "boolean",
      help: "Do not wait for an effect: accept that its outcome becomes unknown",
    },
    key: KEY_OPTION,
  },
  examples: [["pause run_01jd", "let nothing more happen"]],
  async run(args, cli) {
    const request = {
      command: newCommand(args.text("key")),
      runId: args.required(0),
      now: args.flag("now"),
    };
    const client = await cli.connect();
    const response = await client.call(({ runs }) => runs.pauseRun(request));
    printResponse(cli, PauseRunResponseSchema, response, () => [
      runLine(response.run, cli),
      ...(response.run?.pauseRequested ? ["it pauses when the effect at hand has ended"] : []),
    ]);
    return ExitCode.success;
  },
};
