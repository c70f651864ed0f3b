import { GetStatusResponseSchema } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { stopHost } from "../stop-host.ts";
import { printResponse } from "./shared.ts";

export const command: Command = {
  description:
    "Stops the host, if one is running, and starts one of this program's version. Runs go on.\n" +
    "This is what a new version of the package needs.",
  options: {
    now: { type: "boolean", help: "Do not wait for effects: their outcome becomes unknown" },
  },
  examples: [["host restart", "after an update"]],
  async run(args, cli) {
    await stopHost(cli, args.flag("now"));
    const client = await cli.connect({ quiet: true });
    const response = await client.call(({ host }) => host.getStatus({}));
    printResponse(cli, GetStatusResponseSchema, response, () => [
      `the host started: pid ${response.pid}, version ${response.version}`,
    ]);
    return ExitCode.success;
  },
};
