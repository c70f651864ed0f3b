/** What a command is made of, and what it is given. */
import type { HostClient } from "../client/host-client.ts";
import type { Clock } from "../platform/clock.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import type { Arguments } from "./arguments.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { Output } from "./output.ts";

export interface Option {
  readonly type: "boolean" | "string";
  /** What stands for the value in help, for example "FILE". */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly help: string;
  /** Values that a shell may offer. */
  readonly choices?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

/** What a shell may offer for a positional argument. */
export type Completes = "file" | "workflow" | "run" | "interaction" | "effect" | "command";

export interface Positional {
  readonly name: string;
  readonly optional?: boolean;
  readonly completes?: Completes | readonly string[];
}

export interface Command {
  /** One sentence and more, for `help`. */
  readonly description: string;
  readonly positionals?: readonly Positional[];
  readonly options?: Options;
  /** Command lines without the program's name, each with what it does. */
  readonly examples: readonly (readonly [string, string])[];
  run(args: Arguments, cli: Cli): Promise<ExitCode>;
}

export type CommandGroup = "Runs" | "Looking" | "Answering" | "Workflow files" | "Host and state";

export interface CommandEntry {
  readonly group: CommandGroup;
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

export interface Connect {
  /** Whether to start a host when none answers; true unless said otherwise. */
  readonly startHost?: boolean;
  /** True for a command whose result tells of the start itself. */
  readonly quiet?: boolean;
}

/** The surroundings of one command. */
export interface Cli {
  readonly out: Output;
  /** True when results are JSON. */
  readonly json: boolean;
  readonly clock: Clock;
  /** Where relative paths begin. */
  readonly cwd: string;
  /** True when somebody can be asked. */
  readonly canAsk: boolean;
  readonly hostEntry: string;
  /** All commands by name. */
  readonly commands: Readonly<Record<string, CommandEntry>>;
  paths(): StatePaths;
  /** The client of the whole command; a second call gets the same one. */
  connect(how?: Connect): Promise<HostClient>;
}
