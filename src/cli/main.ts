/** The command line `pi-workflows`: finds the command, runs it, and ends as it says. */
import { join } from "node:path";
import { cwd, stderr, stdout } from "node:process";
import { isatty } from "node:tty";
import type { HostClient } from "../client/host-client.ts";
import { systemClock } from "../platform/clock.ts";
import { keepAlive } from "../platform/keep-alive.ts";
import { statePaths } from "../platform/state-folder.ts";
import { parseArguments } from "./arguments.ts";
import type { Cli } from "./command.ts";
import { COMMANDS, findCommand } from "./commands/index.ts";
import { ExitCode } from "./exit-codes.ts";
import { Output } from "./output.ts";

/** A host that does not answer a PING within this time is taken for dead. */
const PING_MS = 10_000;

async function main(argv: readonly string[]): Promise<void> {
  const out = new Output(stdout, stderr);
  const json = wantsJson(argv);
  const letGo = keepAlive();
  const cli = surroundings(out, json);
  try {
    process.exitCode = await run(argv, cli);
  } finally {
    cli.close();
    letGo();
  }
  // An error of the last write is only told once the loop has turned.
  process.once("beforeExit", () => {
    if (out.failure === undefined) return;
    out.note(`pi-workflows: the output could not be written: ${out.failure.message}`);
    process.exitCode = ExitCode.internal;
  });
}

async function run(argv: readonly string[], cli: Cli): Promise<ExitCode> {
  let name = "";
  try {
    const found = await findCommand(argv);
    name = found.name;
    const args = parseArguments(found.command, found.rest);
    if (!args.flag("help")) return whenRead(cli, await found.command.run(args, cli));
    const { commandHelp } = await import("./commands/help.ts");
    cli.out.lines(commandHelp(found.name, found.command, cli.out.style));
    return ExitCode.success;
  } catch (error) {
    if (cli.out.gone.aborted) return ExitCode.success;
    const { reportError } = await import("./report-error.ts");
    return await reportError({ out: cli.out, json: cli.json, command: name }, error);
  }
}

/** Whoever closed the pipe has seen enough; what ended because of it is no failure. */
function whenRead({ out }: Cli, code: ExitCode): ExitCode {
  return out.gone.aborted ? ExitCode.success : code;
}

function surroundings(out: Output, json: boolean): Cli & { close(): void } {
  let client: Promise<HostClient> | undefined;
  const hostEntry = join(import.meta.dirname, "host.cjs");
  const cli: Cli = {
    out,
    json,
    clock: systemClock,
    cwd: cwd(),
    canAsk: isatty(0) && out.isTerminal && !json,
    hostEntry,
    commands: COMMANDS,
    paths: statePaths,
    async connect({ startHost = true, quiet = json } = {}) {
      const { connectHost } = await import("../client/host-client.ts");
      client ??= connectHost({
        paths: statePaths(),
        startHost,
        hostEntry,
        pingMs: PING_MS,
        signal: out.gone,
        onStart: () => {
          if (!quiet) out.note("pi-workflows: no host is running; starting one");
        },
      });
      return await client;
    },
  };
  return {
    ...cli,
    close: () =>
      void client?.then(
        (open) => open.close(),
        () => undefined,
      ),
  };
}

/** Known before anything is parsed, because a wrong command line is told as JSON, too. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}

void main(process.argv.slice(2));
