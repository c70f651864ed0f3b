import { CancelRunResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { HostClient } from "../../client/host-client.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { leftoverLines } from "../views/run-view.ts";
import { frameOf, KEY_OPTION, newCommand, printResponse, RUN, runLine } from "./shared.ts";

export const command: Command = {
  description:
    "Ends a run. It counts as cancelled at once; its processes are ended after that.\n" +
    "What it did stays done, and an effect that is being applied becomes ambiguous.",
  positionals: [RUN],
  options: {
    note: { type: "string", value: "TEXT", help: "Why, for the record" },
    key: KEY_OPTION,
  },
  examples: [['cancel run_01jd --note "wrong branch"', "with a reason"]],
  async run(args, cli) {
    const request = {
      command: newCommand(args.text("key")),
      runId: args.required(0),
      note: args.text("note") ?? "",
    };
    const client = await cli.connect();
    const response = await client.call(({ runs }) => runs.cancelRun(request));
    const leftovers = cli.json ? [] : await leftoversOf(cli, client, response.run?.runId ?? "");
    printResponse(cli, CancelRunResponseSchema, response, () => [
      runLine(response.run, cli),
      ...leftovers,
    ]);
    return ExitCode.success;
  },
};

/** What was cut off in the middle has an outcome that nobody knows: the moment to say so is now. */
async function leftoversOf(
  cli: Cli,
  client: HostClient,
  runId: string,
): Promise<readonly string[]> {
  if (runId === "") return [];
  const { run } = await client.call(({ runs }) => runs.getRun({ runId }));
  return run === undefined ? [] : leftoverLines(run, frameOf(cli));
}
