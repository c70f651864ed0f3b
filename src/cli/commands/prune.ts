import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { PruneResponseSchema } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type { PruneResponse } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import { RefusedError, UsageError } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { confirm } from "../prompt.ts";
import { bytes, plural } from "../../platform/text.ts";
import { parseDuration } from "../times.ts";
import { newCommand, printResponse } from "./shared.ts";

const AGE_DEFAULT = "30d";

export const command: Command = {
  description:
    "Deletes runs that ended long ago, with their values and output. Runs that have not ended\n" +
    "and runs with an effect nobody has resolved are never deleted, and for a year none whose\n" +
    "session has not been told its end.",
  options: {
    "older-than": {
      type: "string",
      value: "DURATION",
      help: `Age since their end (${AGE_DEFAULT})`,
    },
    "dry-run": { type: "boolean", help: "Only tell what would be deleted" },
    yes: { type: "boolean", help: "Do not ask; needed without a terminal" },
  },
  examples: [
    ["prune --dry-run", "what would go"],
    ["prune --older-than 7d --yes", "delete without asking"],
  ],
  async run(args, cli) {
    const olderThan = durationFromMs(
      parseDuration("older-than", args.text("older-than") ?? AGE_DEFAULT),
    );
    const dryRun = args.flag("dry-run");
    if (!dryRun && !args.flag("yes")) {
      if (!cli.canAsk) throw new UsageError("without a terminal prune needs --yes or --dry-run");
      const preview = await prune(cli, { olderThan, dryRun: true });
      if (!(await confirm(`Delete ${summary(preview)}?`)))
        throw new RefusedError("nothing was deleted");
    }
    const response = await prune(cli, { olderThan, dryRun });
    const verb = dryRun ? "would delete" : "deleted";
    printResponse(cli, PruneResponseSchema, response, () => [`${verb} ${summary(response)}`]);
    return ExitCode.success;
  },
};

interface What {
  readonly olderThan: ReturnType<typeof durationFromMs>;
  readonly dryRun: boolean;
}

async function prune(cli: Cli, what: What): Promise<PruneResponse> {
  const client = await cli.connect();
  const request = { command: newCommand(), ...what };
  return await client.call(({ host }) => host.prune(request));
}

function summary({ runs, protectedRuns, freedBytes }: PruneResponse): string {
  const kept = protectedRuns === 0n ? "" : `; ${plural(protectedRuns, "protected run")} stay`;
  const freed = freedBytes === 0n ? "" : `, ${bytes(freedBytes)}`;
  return `${plural(runs, "run")}${freed}${kept}`;
}
