/** What may come next in `/workflow …`. Pure but for the names of workflows, which are handed in. */
import type { AttachResponse } from "../../gen/piworkflows/host/v1/session_service_pb.ts";
import type { RunSummary } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { safe } from "../../platform/text.ts";
import { INTERACTION_KIND, statusWords } from "../run-words.ts";
import { COMMANDS, flagsOf, isCommand, targetOf } from "./parse.ts";
import type { CommandName } from "./parse.ts";

export interface Completion {
  /** The whole text after `/workflow `. */
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

export interface CompletionSource {
  readonly picture: AttachResponse | undefined;
  readonly workflows: () => readonly { readonly name: string; readonly origin: string }[];
}

/**
 * Nothing where what is typed is complete: an open list would take the Enter key
 * that is meant for the command.
 */
export function completions(typed: string, source: CompletionSource): Completion[] | null {
  const parts = typed.split(/\s+/);
  const items = parts.length === 1 ? names() : argumentsOf(parts, source);
  const fitting = items.filter(({ value }) => value.startsWith(typed));
  const isComplete = fitting.some(({ value }) => value === typed);
  return fitting.length === 0 || isComplete ? null : [...fitting];
}

function names(): readonly Completion[] {
  return Object.entries(COMMANDS).map(([name, { help }]) => ({
    value: name,
    label: name,
    description: help,
  }));
}

function argumentsOf(parts: readonly string[], source: CompletionSource): readonly Completion[] {
  const [name = ""] = parts;
  if (!isCommand(name)) return [];
  const before = parts.slice(0, -1).join(" ");
  const last = parts.at(-1) ?? "";
  if (last.startsWith("--")) {
    return flagsOf(name).map((flag) => ({ value: `${before} ${flag}`, label: flag }));
  }
  if (parts.length > 2) return [];
  return targets(name, source).map(({ label, description }) => ({
    value: `${name} ${label}`,
    label,
    description,
  }));
}

interface Named {
  readonly label: string;
  readonly description: string;
}

function targets(name: CommandName, source: CompletionSource): readonly Named[] {
  switch (targetOf(name)) {
    case "workflow":
      return source.workflows().map((file) => ({ label: file.name, description: file.origin }));
    case "run":
      return runsOf(source).map((run) => ({ label: run.runId, description: describe(run) }));
    case "checkpoint":
      return requests(source, INTERACTION_KIND.checkpoint);
    case "decision":
      return requests(source, INTERACTION_KIND.human_decision);
    case "none":
      return [];
  }
}

function requests(source: CompletionSource, kind: number): readonly Named[] {
  return runsOf(source)
    .filter((run) => run.interactionKind === kind)
    .map((run) => ({ label: run.interactionId, description: describe(run) }));
}

function runsOf({ picture }: CompletionSource): readonly RunSummary[] {
  const shown = [...(picture?.runs ?? []), ...(picture?.ended ? [picture.ended] : [])];
  return shown.flatMap(({ summary }) => (summary === undefined ? [] : [summary]));
}

function describe(run: RunSummary): string {
  return `${statusWords(run).word}: ${safe(run.title === "" ? run.workflow : run.title)}`;
}
