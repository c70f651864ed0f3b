/** The command line of a headless run's Pi. */
import type { ModelRecord } from "../records-sessions.ts";

export interface PiLaunch {
  readonly sessionId: string;
  readonly sessionDir: string;
  /** This package, where Pi does not load it by itself. */
  readonly extension: string | undefined;
  readonly model: ModelRecord | undefined;
}

/**
 * Arguments that are the host's business, and what would end Pi at once or trust
 * a project that its user has not trusted. Only a person says `--approve`.
 */
const RESERVED: ReadonlySet<string> = new Set([
  "--mode",
  "--print",
  "-p",
  "--continue",
  "-c",
  "--resume",
  "-r",
  "--session",
  "--session-id",
  "--session-dir",
  "--no-session",
  "--fork",
  "--approve",
  "-a",
  "--no-extensions",
  "-ne",
  "--export",
  "--list-models",
  "--help",
  "-h",
  "--version",
  "-v",
  "--",
]);

/** What a step may not ask of Pi, in words; absent when its arguments will do. */
export function argumentProblem(model: ModelRecord | undefined): string | undefined {
  for (const arg of model?.args ?? []) {
    const [name = ""] = arg.split("=", 1);
    if (RESERVED.has(name)) {
      return `the argument ${name} for Pi is the host's own business; take it out of the step's or run's model`;
    }
    if (arg.startsWith("@")) {
      return `the argument ${arg} names a file for a prompt, and a headless Pi gets its prompts from the run`;
    }
  }
  return undefined;
}

/** Without a word about trust: Pi then goes by what its user has stored. */
export function piArguments({
  sessionId,
  sessionDir,
  extension,
  model,
}: PiLaunch): readonly string[] {
  return [
    "--mode",
    "rpc",
    "--session-id",
    sessionId,
    "--session-dir",
    sessionDir,
    ...(extension === undefined ? [] : ["-e", extension]),
    ...modelArguments(model),
  ];
}

function modelArguments(model: ModelRecord | undefined): readonly string[] {
  if (model === undefined) return [];
  const { provider, model: name, args } = model;
  if (name === "") return [...(provider === "" ? [] : ["--models", `${provider}/*`]), ...args];
  return [...(provider === "" ? [] : ["--provider", provider]), "--model", name, ...args];
}
