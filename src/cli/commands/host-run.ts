import { hostEnvironment } from "../../client/start-host.ts";
import { livingHost } from "../../client/host-file.ts";
import { RefusedError } from "../arguments.ts";
import type { Command } from "../command.ts";
import type { ExitCode } from "../exit-codes.ts";

const A_YEAR_MS = 365 * 86_400_000;

export const command: Command = {
  description:
    "Runs the host in this terminal, for a service manager or for looking at it. The first\n" +
    "Ctrl-C stops it in order, the second at once. Its log is what `host logs` shows.",
  examples: [["host run", "until Ctrl-C"]],
  run(_args, cli) {
    const paths = cli.paths();
    const running = livingHost(paths);
    if (running !== undefined) {
      throw new RefusedError(
        `a host is running already (pid ${running.pid}); to stop it: pi-workflows host stop`,
      );
    }
    cli.out.note(`the host runs here; its log: ${paths.log}`);
    // This process becomes the host: signals, Ctrl-Z and the exit code are then its own.
    return become(process.execPath, [process.execPath, cli.hostEntry], {
      // Somebody looks at it, so it does not end for want of work.
      PI_WORKFLOWS_IDLE_MS: String(A_YEAR_MS),
      ...hostEnvironment(paths),
    });
  },
};

function become(
  file: string,
  argv: readonly string[],
  env: Record<string, string>,
): Promise<ExitCode> {
  if (process.execve === undefined) throw new Error("this platform cannot replace a process");
  return process.execve(file, argv, env);
}
