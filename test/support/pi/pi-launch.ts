/** How a Pi of a test is started: from the pinned package, with the Node.js of this process. */
import { spawn } from "node:child_process";
import { PI_CLI } from "./pi-profile.ts";
import type { PiProfile } from "./pi-profile.ts";
import { RpcPipe } from "./rpc-pipe.ts";

/** A new session, one of an id or file, the newest one of the folder, or one without a file. */
export type SessionChoice =
  | "new"
  | "continue"
  | "none"
  | { readonly id: string }
  | { readonly file: string };

export interface LaunchOptions {
  readonly profile: PiProfile;
  /** Folders or files given with `-e`. */
  readonly extensions?: readonly string[];
  readonly session?: SessionChoice;
  /** Further arguments, at the end. */
  readonly args?: readonly string[];
  /** Over the profile's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The project of the profile by default. */
  readonly cwd?: string;
}

export function launchPi(options: LaunchOptions): RpcPipe {
  const [program, ...args] = piCommand(options, ["--mode", "rpc"]);
  const child = spawn(program, args, {
    cwd: options.cwd ?? options.profile.project,
    env: piEnvironment(options),
    stdio: ["pipe", "pipe", "pipe"],
  });
  return new RpcPipe(child);
}

/**
 * The whole command line. Trust is never asked for, and no text from folders
 * above the project gets into the prompt.
 */
export function piCommand(
  { extensions = [], session = "new", args = [] }: LaunchOptions,
  mode: readonly string[] = [],
): readonly [string, ...string[]] {
  const loaded = extensions.flatMap((path) => ["-e", path]);
  const quiet = ["--no-approve", "--no-context-files"];
  return [process.execPath, PI_CLI, ...mode, ...quiet, ...loaded, ...chosen(session), ...args];
}

export function piEnvironment({ profile, env }: LaunchOptions): Record<string, string> {
  return { ...profile.env, ...env };
}

function chosen(session: SessionChoice): readonly string[] {
  if (session === "new") return [];
  if (session === "continue") return ["--continue"];
  if (session === "none") return ["--no-session"];
  return "id" in session ? ["--session-id", session.id] : ["--session", session.file];
}
