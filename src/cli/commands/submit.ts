import { SubmitResultResponseSchema } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { SubmitResultResponse } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { findInteraction } from "../find-interaction.ts";
import { safe, safeLines } from "../../platform/text.ts";
import { readValue } from "../values.ts";
import { KEY_OPTION, newCommand, printResponse } from "./shared.ts";

export const command: Command = {
  description:
    "Submits the result of a model step, in the model's place. The workflow's own check decides:\n" +
    "a rejected result leaves the step open, and its error is printed (exit code 3).",
  positionals: [{ name: "INTERACTION|RUN", completes: "interaction" }, { name: "JSON" }],
  options: { key: KEY_OPTION },
  examples: [
    [`submit int_01jd '{"notes":"- faster"}'`, "with a JSON value"],
    ["submit int_01jd @result.json", "with the content of a file; - reads stdin"],
  ],
  async run(args, cli) {
    const value = readValue("the result", args.required(1), cli.cwd);
    const client = await cli.connect();
    const { interactionId, summary } = await findInteraction(client, args.required(0));
    const request = { command: newCommand(args.text("key")), interactionId, value };
    const response = await client.call(({ interactions }) => interactions.submitResult(request));
    return told(cli, `${interactionId}: ${safe(summary)}`, response);
  },
};

function told(cli: Cli, what: string, response: SubmitResultResponse): ExitCode {
  printResponse(cli, SubmitResultResponseSchema, response, () =>
    response.accepted ? [`accepted ${what}`] : [],
  );
  if (response.accepted) return ExitCode.success;
  cli.out.note(`rejected ${what}\n${safeLines(response.error)}`);
  return ExitCode.refused;
}
