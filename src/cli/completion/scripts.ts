/** Completion scripts, made from what the commands declare about themselves. */
import { COMMON_OPTIONS } from "../arguments.ts";
import type { Command } from "../command.ts";

export const SHELLS: readonly string[] = ["bash", "zsh", "fish"];

interface Described {
  /** Name of the command, one or two words. */
  readonly name: string;
  readonly options: readonly string[];
  /** Options whose value is one of these words. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  /** Options whose value may be anything. */
  readonly free: readonly string[];
  /** What the first argument may be: words, or something to ask for. */
  readonly words: readonly string[];
  readonly dynamic: string;
}

export function scriptFor(shell: string, commands: ReadonlyMap<string, Command>): string {
  const described = [...commands].map(([name, command]) => describe(name, command, commands));
  if (shell === "bash") return bash(described);
  return shell === "zsh" ? zsh(described) : fish(described);
}

function describe(
  name: string,
  { positionals = [], options = {} }: Command,
  commands: ReadonlyMap<string, Command>,
): Described {
  const all = Object.entries({ ...options, ...COMMON_OPTIONS });
  const completes = positionals[0]?.completes ?? [];
  const words = typeof completes === "string" ? [] : completes;
  return {
    name,
    options: all.map(([option]) => `--${option}`),
    choices: Object.fromEntries(
      all.flatMap(([option, { choices }]) =>
        choices === undefined ? [] : [[`--${option}`, choices]],
      ),
    ),
    free: all
      .filter(([, { type, choices }]) => type === "string" && choices === undefined)
      .map(([option]) => `--${option}`),
    words: completes === "command" ? firstWords([...commands.keys()]) : words,
    dynamic: typeof completes === "string" && completes !== "command" ? completes : "",
  };
}

function firstWords(names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => name.split(" ")[0] ?? name))];
}

function verbs(commands: readonly Described[]): readonly (readonly [string, readonly string[]])[] {
  const names = commands.map(({ name }) => name);
  return firstWords(names)
    .map(
      (first) =>
        [
          first,
          names
            .filter((name) => name.startsWith(`${first} `))
            .map((name) => name.slice(first.length + 1)),
        ] as const,
    )
    .filter(([, seconds]) => seconds.length > 0);
}

/** Shared by bash and zsh: which words follow which command. */
function cases(commands: readonly Described[], indent: string): string {
  return commands
    .map((command) => {
      const choices = Object.entries(command.choices)
        .map(([option, words]) => `${indent}    ${option}) offer="${words.join(" ")}" ask="" ;;\n`)
        .concat(valueCase(command, indent))
        .join("");
      const ask = command.dynamic === "" ? "" : `${indent}  ask=${command.dynamic}\n`;
      return (
        `${indent}"${command.name}")\n` +
        `${indent}  options="${command.options.join(" ")}" offer="${command.words.join(" ")}"\n` +
        ask +
        (choices === "" ? "" : `${indent}  case "$previous" in\n${choices}${indent}  esac\n`) +
        `${indent}  ;;\n`
      );
    })
    .join("");
}

/** After an option that takes a value of its own, nothing else is offered; a shell then offers files. */
function valueCase({ free }: Described, indent: string): string {
  return free.length === 0 ? "" : `${indent}    ${free.join("|")}) offer="" ask="" ;;\n`;
}

function groupCases(commands: readonly Described[], indent: string): string {
  return verbs(commands)
    .map(([first, seconds]) => `${indent}${first}) offer="${seconds.join(" ")}" ;;\n`)
    .join("");
}

const DYNAMIC = `  if [ -n "$ask" ]; then
    case "$ask" in
      file) ;;
      *) offer="$offer $(pi-workflows completion words "$ask" 2>/dev/null)" ;;
    esac
  fi
`;

function bash(commands: readonly Described[]): string {
  return `# bash completion of pi-workflows
_pi_workflows() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local first="\${COMP_WORDS[1]}" name options="" offer="" ask=""
  # bash makes three words of --format=svg
  if [ "$current" = "=" ]; then current=""; elif [ "$previous" = "=" ]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${firstWords(commands.map(({ name }) => name)).join(" ")} --help --version" -- "$current"))
    return
  fi
  name="$first"
  case "$first" in
    ${verbs(commands)
      .map(([first]) => first)
      .join("|")})
      if [ "$COMP_CWORD" -gt 2 ]; then name="$first \${COMP_WORDS[2]}"; fi ;;
  esac
  case "$name" in
${groupCases(commands, "    ")}${cases(commands, "    ")}  esac
${DYNAMIC}  case "$current" in -*) offer="$options" ;; esac
  COMPREPLY=($(compgen -W "$offer" -- "$current"))
}
complete -o default -F _pi_workflows pi-workflows
`;
}

function zsh(commands: readonly Described[]): string {
  return `#compdef pi-workflows
_pi_workflows() {
  local current="$words[CURRENT]" previous="$words[CURRENT-1]"
  local first="$words[2]" name options="" offer="" ask=""
  if (( CURRENT == 2 )); then
    compadd -- ${firstWords(commands.map(({ name }) => name)).join(" ")} --help --version
    return
  fi
  name="$first"
  case "$first" in
    ${verbs(commands)
      .map(([first]) => first)
      .join("|")})
      if (( CURRENT > 3 )); then name="$first $words[3]"; fi ;;
  esac
  case "$name" in
${groupCases(commands, "    ")}${cases(commands, "    ")}  esac
${DYNAMIC}  case "$current" in -*) offer="$options" ;; esac
  compadd -- \${=offer}
  if [ -z "$offer" ] || [ "$ask" = workflow ]; then _files; fi
}
if [ "$funcstack[1]" = _pi_workflows ]; then _pi_workflows "$@"; else compdef _pi_workflows pi-workflows; fi
`;
}

function fish(commands: readonly Described[]): string {
  const first = firstWords(commands.map(({ name }) => name)).join(" ");
  const lines = commands.flatMap((command) => {
    const [group = "", verb] = command.name.split(" ");
    const seen = `__fish_seen_subcommand_from ${group}${verb === undefined ? "" : `; and __fish_seen_subcommand_from ${verb}`}`;
    const condition = `-n '${seen}'`;
    const dynamic =
      command.dynamic === "" || command.dynamic === "file"
        ? ""
        : `(pi-workflows completion words ${command.dynamic} 2>/dev/null)`;
    const offer = [...command.words, dynamic].filter((word) => word !== "").join(" ");
    return [
      ...command.options.map((option) => {
        const values = command.choices[option];
        const choices = values === undefined ? "" : ` -x -a '${values.join(" ")}'`;
        return `complete -c pi-workflows ${condition} -l ${option.slice(2)}${choices}`;
      }),
      ...(offer === "" ? [] : [`complete -c pi-workflows ${condition} -a '${offer}'`]),
    ];
  });
  const groups = verbs(commands).map(
    ([group, seconds]) =>
      `complete -c pi-workflows -n '__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${seconds.join(" ")}' -f -a '${seconds.join(" ")}'`,
  );
  return [
    "# fish completion of pi-workflows",
    `complete -c pi-workflows -n __fish_use_subcommand -f -a '${first}'`,
    ...groups,
    ...lines,
    "",
  ].join("\n");
}
