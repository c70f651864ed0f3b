import { statSync } from "node:fs";
import { describeError } from "../../workflow/describe-error.ts";
import type { Command } from "./command.ts";

/** The command never ran: nothing was done outside. */
export class CommandStartError extends Error {
  override readonly name = "CommandStartError";
}

type Attempted = Pick<Command, "command" | "cwd" | "env">;

/** What prevented a start, in words that say what to mend. */
export function startError(thrown: unknown, attempted: Attempted): CommandStartError {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const why = reasonFor(code, attempted) ?? describeError(thrown).message;
  const command = JSON.stringify(attempted.command);
  return new CommandStartError(`cannot run ${command}: ${why}`, { cause: thrown });
}

function reasonFor(code: string, { command, cwd, env }: Attempted): string | undefined {
  // The platform reports a missing folder and a missing command alike.
  if (!isFolder(cwd)) return `there is no folder ${cwd}`;
  switch (code) {
    case "ENOENT":
      return command.includes("/")
        ? "there is no such file"
        : `there is no such command in PATH (${env["PATH"] ?? "which is not set"})`;
    case "EACCES":
      return "it may not be run; check its mode";
    case "E2BIG":
      return "its arguments and environment are too long; use stdin or a file";
    default:
      return undefined;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
