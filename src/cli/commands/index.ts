/** All commands by name. Only the one that is asked for is loaded. */
import { UsageError } from "../arguments.ts";
import type { Command, CommandEntry } from "../command.ts";
import { didYouMean, nearNames } from "../near-names.ts";

export interface FoundCommand {
  readonly name: string;
  readonly command: Command;
  /** What follows the name. */
  readonly rest: readonly string[];
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  start: {
    group: "Runs",
    summary: "Start a run of a workflow",
    load: () => import("./start.ts"),
  },
  pause: { group: "Runs", summary: "Pause a run", load: () => import("./pause.ts") },
  resume: {
    group: "Runs",
    summary: "Let a paused or blocked run go on",
    load: () => import("./resume.ts"),
  },
  cancel: { group: "Runs", summary: "End a run", load: () => import("./cancel.ts") },
  restart: {
    group: "Runs",
    summary: "Start a new run from the input of an old one",
    load: () => import("./restart.ts"),
  },
  list: { group: "Looking", summary: "List runs, newest first", load: () => import("./list.ts") },
  show: {
    group: "Looking",
    summary: "Show a run, or one of its values whole",
    load: () => import("./show.ts"),
  },
  watch: {
    group: "Looking",
    summary: "Watch a run until it ends",
    load: () => import("./watch.ts"),
  },
  events: {
    group: "Looking",
    summary: "Show what was committed, event by event",
    load: () => import("./events.ts"),
  },
  logs: {
    group: "Looking",
    summary: "Show the output of a run's workers",
    load: () => import("./logs.ts"),
  },
  interactions: {
    group: "Answering",
    summary: "List the questions that wait for an answer",
    load: () => import("./interactions.ts"),
  },
  answer: {
    group: "Answering",
    summary: "Answer a question of a run",
    load: () => import("./answer.ts"),
  },
  decide: {
    group: "Answering",
    summary: "Decide what only a person may decide",
    load: () => import("./decide.ts"),
  },
  submit: {
    group: "Answering",
    summary: "Submit the result of a model step",
    load: () => import("./submit.ts"),
  },
  "effects list": {
    group: "Answering",
    summary: "List managed side effects",
    load: () => import("./effects-list.ts"),
  },
  "effects resolve": {
    group: "Answering",
    summary: "Say what became of an effect nobody knows about",
    load: () => import("./effects-resolve.ts"),
  },
  workflows: {
    group: "Workflow files",
    summary: "List the workflows that can be started by name",
    load: () => import("./workflows.ts"),
  },
  validate: {
    group: "Workflow files",
    summary: "Report all problems of a workflow file",
    load: () => import("./validate.ts"),
  },
  graph: {
    group: "Workflow files",
    summary: "Draw a workflow",
    load: () => import("./graph.ts"),
  },
  "host start": {
    group: "Host and state",
    summary: "Start the host, if none is running",
    load: () => import("./host-start.ts"),
  },
  "host status": {
    group: "Host and state",
    summary: "Tell how the host is",
    load: () => import("./host-status.ts"),
  },
  "host stop": {
    group: "Host and state",
    summary: "Stop the host and wait until it is gone",
    load: () => import("./host-stop.ts"),
  },
  "host restart": {
    group: "Host and state",
    summary: "Stop the host and start it again",
    load: () => import("./host-restart.ts"),
  },
  "host run": {
    group: "Host and state",
    summary: "Be the host, in this terminal",
    load: () => import("./host-run.ts"),
  },
  "host logs": {
    group: "Host and state",
    summary: "Show the host's log",
    load: () => import("./host-logs.ts"),
  },
  doctor: {
    group: "Host and state",
    summary: "Look for what is wrong, and mend it",
    load: () => import("./doctor.ts"),
  },
  backup: {
    group: "Host and state",
    summary: "Write a consistent copy of the database",
    load: () => import("./backup.ts"),
  },
  prune: {
    group: "Host and state",
    summary: "Delete old runs that have ended",
    load: () => import("./prune.ts"),
  },
  completion: {
    group: "Host and state",
    summary: "Print a completion script for a shell",
    load: () => import("./completion.ts"),
  },
  help: {
    group: "Host and state",
    summary: "Show help, of the program or of a command",
    load: () => import("./help.ts"),
  },
  version: {
    group: "Host and state",
    summary: "Print the version",
    load: () => import("./version.ts"),
  },
};

/** What a word alone means, when it is the first of two. */
const ALONE: Readonly<Record<string, string>> = { effects: "effects list" };
const FLAGS: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-v": "version",
};

/** The command that a command line names, or a usage error that names the nearest one. */
export async function findCommand(argv: readonly string[]): Promise<FoundCommand> {
  // `--json list` reads as well as `list --json`.
  const first = argv.findIndex((word) => word !== "--json");
  const words = first < 0 ? [] : argv.slice(first);
  const ahead = argv.slice(0, Math.max(first, 0));
  const [name, length] = nameOf(words);
  const { command } = await entry(name).load();
  return { name, command, rest: [...ahead, ...words.slice(length)] };
}

function nameOf(words: readonly string[]): readonly [name: string, words: number] {
  const [first = "help", second = ""] = words;
  const name = FLAGS[first] ?? first;
  if (Object.hasOwn(COMMANDS, name)) return [name, Math.min(words.length, 1)];
  const both = `${first} ${second}`;
  return Object.hasOwn(COMMANDS, both) ? [both, 2] : nameOfGroup(first, second);
}

/** A word that needs a second one, and did not get one that is known. */
function nameOfGroup(first: string, second: string): readonly [name: string, words: number] {
  const verbs = verbsOf(first);
  if (verbs.length === 0) throw new UsageError(`there is no command "${first}"${nearest(first)}`);
  if (second === "--help" || second === "-h") return ["help", 0];
  const alone = ALONE[first];
  if (alone !== undefined && (second === "" || second.startsWith("-"))) return [alone, 1];
  throw new UsageError(
    `${first} takes one of: ${verbs.join(", ")}${didYouMean(nearNames(second, verbs))}`,
  );
}

function entry(name: string): CommandEntry {
  const found = COMMANDS[name];
  if (found === undefined) throw new UsageError(`there is no command "${name}"`);
  return found;
}

function verbsOf(first: string): readonly string[] {
  return Object.keys(COMMANDS)
    .filter((name) => name.startsWith(`${first} `))
    .map((name) => name.slice(first.length + 1));
}

function nearest(given: string): string {
  const names = [...new Set(Object.keys(COMMANDS).map((name) => name.split(" ")[0] ?? name))];
  return didYouMean(nearNames(given, names));
}
