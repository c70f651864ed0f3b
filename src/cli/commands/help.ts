import { COMMON_OPTIONS, UsageError } from "../arguments.ts";
import type { Cli, Command, CommandEntry, Option, Positional } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import type { Style } from "../output.ts";

const PROGRAM = "pi-workflows";
const INDENT = "  ";

export const command: Command = {
  description: "Shows what the program can do, or how one command is used.",
  positionals: [
    { name: "COMMAND", optional: true, completes: "command" },
    { name: "VERB", optional: true },
  ],
  examples: [
    ["help start", "how a run is started"],
    ["help host", "the commands that begin with host"],
  ],
  async run({ positionals }, cli) {
    const name = positionals.join(" ");
    const shown = matching(name, cli);
    if (shown.length === 0) throw new UsageError(`there is no command "${name}"`);
    const exact = cli.commands[name];
    if (cli.json) {
      const commands = shown.map(([of, { group, summary }]) => ({ name: of, group, summary }));
      cli.out.json({ commands });
    } else if (exact === undefined) {
      cli.out.lines(programHelp(name, shown, cli.out.style));
    } else {
      const loaded = await exact.load();
      cli.out.lines(commandHelp(name, loaded.command, cli.out.style));
    }
    return ExitCode.success;
  },
};

type NamedEntry = readonly [name: string, entry: CommandEntry];

/** The commands that a name means: one, those of which it is the first word, or all. */
function matching(name: string, { commands }: Cli): readonly NamedEntry[] {
  return Object.entries(commands).filter(
    ([one]) => name === "" || one === name || one.startsWith(`${name} `),
  );
}

/** The help of one command: usage, what it does, its options, examples. */
export function commandHelp(name: string, of: Command, style: Style): readonly string[] {
  const options = Object.entries({ ...of.options, ...COMMON_OPTIONS });
  const names = options.map(([option, { value }]) => `--${option}${value ? ` ${value}` : ""}`);
  const examples = of.examples.map(([line]) => `${PROGRAM} ${line}`);
  return [
    style("bold", ["Usage:", PROGRAM, name, ...usage(of)].join(" ")),
    "",
    of.description,
    "",
    style("bold", "Options"),
    ...columns(
      names,
      options.map(([, option]) => optionHelp(option)),
    ),
    "",
    style("bold", "Examples"),
    ...columns(
      examples,
      of.examples.map(([, what]) => `# ${what}`),
    ),
  ];
}

/** The list of commands; of all, or of those whose first word is `first`. */
function programHelp(first: string, shown: readonly NamedEntry[], style: Style): readonly string[] {
  const groups = [...new Set(shown.map(([, { group }]) => group))];
  const width = Math.max(...shown.map(([name]) => name.length));
  return [
    style("bold", `Usage: ${PROGRAM} ${first === "" ? "" : `${first} `}COMMAND [ARGUMENTS]`),
    ...(first === "" ? ["", "Durable workflows on your own machine."] : []),
    ...groups.flatMap((group) => [
      "",
      style("bold", group),
      ...shown
        .filter(([, entry]) => entry.group === group)
        .map(([name, { summary }]) => `${INDENT}${name.padEnd(width)}  ${summary}`),
    ]),
    "",
    `Ids may be shortened to their beginning or their end, at least four characters of it.`,
    `Every command takes --json and --help.`,
    `Exit codes: 0 done, 1 internal, 2 usage, 3 refused, 4 not found, 5 no host;`,
    `of a run: 10 failed, 11 cancelled, 12 timed out, 13 needs an answer, 14 blocked, 15 paused;`,
    `16 the watching ended before the run; 78 this Node.js is too old.`,
    "",
    `More about one command: ${PROGRAM} help COMMAND`,
  ];
}

function usage({ positionals = [], options = {} }: Command): readonly string[] {
  const optional = Object.keys(options).length > 0 ? ["[OPTIONS]"] : [];
  return [...positionals.map(positional), ...optional];
}

function positional({ name, optional }: Positional): string {
  return optional === true ? `[${name}]` : name;
}

function optionHelp({ help, choices, multiple }: Option): string {
  const values = choices === undefined ? "" : `: ${choices.join(", ")}`;
  return `${help}${values}${multiple === true ? "; may be repeated" : ""}`;
}

function columns(left: readonly string[], right: readonly string[]): readonly string[] {
  const width = Math.max(...left.map((text) => text.length));
  return left.map((text, index) =>
    `${INDENT}${text.padEnd(width)}  ${right[index] ?? ""}`.trimEnd(),
  );
}
