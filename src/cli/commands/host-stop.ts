import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { stopHost } from "../stop-host.ts";

export const command: Command = {
  description:
    "Stops the host and waits until its process is gone. Runs stay as they are and go on when\n" +
    "a host is started again; effects that are being applied get ten seconds to end.",
  options: {
    now: { type: "boolean", help: "Do not wait for effects: their outcome becomes unknown" },
  },
  examples: [["host stop", "in order"]],
  async run(args, cli) {
    const pid = await stopHost(cli, args.flag("now"));
    if (cli.json)
      cli.out.json({ stopped: pid !== undefined, ...(pid === undefined ? {} : { pid }) });
    else cli.out.line(pid === undefined ? "no host is running" : `the host stopped (pid ${pid})`);
    return ExitCode.success;
  },
};
