/** The command `/workflow` as it is typed. Pure. */

/** What a word after the action means, for its completion. */
type Target = "workflow" | "run" | "checkpoint" | "decision" | "none";

interface ActionHelp {
  readonly target: Target;
  readonly usage: string;
  readonly help: string;
  readonly flags?: readonly string[];
}

export const COMMANDS = {
  list: { target: "none", usage: "", help: "workflows that can be started, and runs" },
  start: {
    target: "workflow",
    usage: "WORKFLOW [JSON or text]",
    help: "start a run whose steps come into this session",
    flags: ["--allow-duplicate"],
  },
  status: { target: "run", usage: "[RUN]", help: "the runs of this session, or all about one" },
  watch: { target: "run", usage: "[RUN]", help: "look on while a run goes its way" },
  pause: {
    target: "run",
    usage: "[RUN]",
    help: "stop a run at its present step",
    flags: ["--now"],
  },
  resume: {
    target: "run",
    usage: "[RUN]",
    help: "let a run go on, and steps start turns again",
    flags: ["--recorded-source", "--accept-source"],
  },
  cancel: { target: "run", usage: "[RUN] [WHY]", help: "end a run" },
  restart: { target: "run", usage: "[RUN]", help: "a new run from the input of an old one" },
  answer: {
    target: "checkpoint",
    usage: "[ID] [JSON or text]",
    help: "answer a question of a run",
  },
  decide: { target: "decision", usage: "[ID]", help: "make the decision a run waits for" },
  here: {
    target: "run",
    usage: "[RUN]",
    help: "show the steps in this Pi, or move a run to this session",
  },
  clear: { target: "none", usage: "", help: "take the run that ended off the screen" },
  host: { target: "none", usage: "", help: "how the host is" },
  doctor: { target: "none", usage: "", help: "look for what is wrong" },
} as const satisfies Readonly<Record<string, ActionHelp>>;

export type CommandName = keyof typeof COMMANDS;

export interface ParsedCommand {
  readonly name: CommandName;
  /** The first word after the name; empty when there is none. */
  readonly target: string;
  /** What follows, as it was typed. */
  readonly rest: string;
  /** Target and rest in one, as they were typed. */
  readonly whole: string;
  readonly flags: ReadonlySet<string>;
}

/** What was typed cannot be meant; the message says how it is typed. */
export class CommandUsageError extends Error {
  override readonly name = "CommandUsageError";
}

const WORD = /^\s*(?:"([^"]*)"|'([^']*)'|(\S+))/;

export function parseCommand(typed: string): ParsedCommand | undefined {
  const [name, afterName] = nextWord(typed);
  if (name === "" || name === "help") return undefined;
  if (!isCommand(name)) {
    const known = Object.keys(COMMANDS).join(", ");
    throw new CommandUsageError(`/workflow ${name}: there is no such action. Actions: ${known}`);
  }
  const flags = new Set<string>();
  const typedTarget = takeFlags(afterName, name, flags);
  const [target, afterTarget] = nextWord(typedTarget);
  const rest = takeLastFlags(takeFlags(afterTarget, name, flags), name, flags).trim();
  return { name, target, rest, whole: typedTarget.trim(), flags };
}

export function usageLines(): readonly string[] {
  return Object.entries<ActionHelp>(COMMANDS).map(([name, { usage, help, flags = [] }]) => {
    const options = flags.map((flag) => ` [${flag}]`).join("");
    return `/workflow ${`${name} ${usage}`.trim()}${options}  – ${help}`;
  });
}

export function flagsOf(name: CommandName): readonly string[] {
  const { flags = [] }: ActionHelp = COMMANDS[name];
  return flags;
}

export function targetOf(name: CommandName): Target {
  return COMMANDS[name].target;
}

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

function takeFlags(text: string, name: CommandName, flags: Set<string>): string {
  let left = text;
  for (;;) {
    const [word, after] = nextWord(left);
    if (!word.startsWith("--")) return left;
    if (!flagsOf(name).includes(word)) {
      const known = flagsOf(name).join(", ");
      const hint = known === "" ? "it has no options" : `its options: ${known}`;
      throw new CommandUsageError(`/workflow ${name} does not know ${word}; ${hint}`);
    }
    flags.add(word);
    left = after;
  }
}

/** Options after a text; a word there that is no option belongs to the text. */
function takeLastFlags(text: string, name: CommandName, flags: Set<string>): string {
  let left = text.trimEnd();
  for (;;) {
    const word = /(?:^|\s)(--\S+)$/.exec(left)?.[1];
    if (word === undefined || !flagsOf(name).includes(word)) return left;
    flags.add(word);
    left = left.slice(0, -word.length).trimEnd();
  }
}

/** The first word, which may be quoted, and the text after it. */
function nextWord(text: string): readonly [string, string] {
  const found = WORD.exec(text);
  if (found === null) return ["", ""];
  const [whole, double, single, plain] = found;
  return [double ?? single ?? plain ?? "", text.slice(whole.length)];
}
