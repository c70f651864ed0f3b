import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { BackupResponseSchema } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import { NotFoundError } from "../arguments.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { bytes, safe } from "../../platform/text.ts";
import { printResponse } from "./shared.ts";

export const command: Command = {
  description:
    "Writes a consistent copy of the database to a new file while the host goes on. To restore:\n" +
    "stop the host and put the copy in the place of host.db (docs/operating.md).",
  positionals: [{ name: "FILE", completes: "file" }],
  examples: [["backup ~/workflows.db", "the file must not exist yet"]],
  async run(args, cli) {
    const path = resolve(cli.cwd, args.required(0));
    const folder = dirname(path);
    if (!existsSync(folder)) throw new NotFoundError(`there is no folder ${folder}`);
    const client = await cli.connect();
    const response = await client.call(({ host }) => host.backup({ path }));
    printResponse(cli, BackupResponseSchema, response, () => [
      `wrote ${safe(path)}: ${bytes(response.bytes)}, sha256 ${response.digest}`,
    ]);
    return ExitCode.success;
  },
};
