import { livingHost } from "../../client/host-file.ts";
import { GetStatusResponseSchema } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { printResponse } from "./shared.ts";

export const command: Command = {
  description:
    "Starts the host in the background, if none is running. Every other command does this by\n" +
    "itself when it needs a host.",
  examples: [["host start", "be sure that a host is running"]],
  async run(_args, cli) {
    const before = livingHost(cli.paths());
    const client = await cli.connect({ quiet: true });
    const response = await client.call(({ host }) => host.getStatus({}));
    const verb = before?.pid === response.pid ? "is running" : "started";
    printResponse(cli, GetStatusResponseSchema, response, () => [
      `the host ${verb}: pid ${response.pid}, version ${response.version}`,
    ]);
    return ExitCode.success;
  },
};
