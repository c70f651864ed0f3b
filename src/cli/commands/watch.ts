import type { Command } from "../command.ts";
import { WATCH_OPTIONS, watchLimit, watchRun } from "../watch-run.ts";
import { RUN } from "./shared.ts";

export const command: Command = {
  description:
    "Watches a run until it ends: a live picture on a terminal, else a line for each change,\n" +
    "or with --json each state. Without a terminal it also ends when the run needs somebody.\n" +
    "Ctrl-C leaves the run going (exit code 16). Otherwise the exit code tells how the run is.",
  positionals: [RUN],
  options: WATCH_OPTIONS,
  examples: [
    ["watch run_01jd", "until it ends"],
    ["watch run_01jd --timeout 10m --json", "states as JSON, for ten minutes at most"],
  ],
  async run(args, cli) {
    watchLimit(args);
    const client = await cli.connect();
    return await watchRun(cli, args, { client, runId: args.required(0) });
  },
};
