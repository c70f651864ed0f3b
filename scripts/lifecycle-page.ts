/**
 * Writes the tables and diagrams of `docs/lifecycle.md` from the tables in
 * `src/host/lifecycle`. A test compares the page with what this would write.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attemptLifecycle } from "../src/host/lifecycle/attempt.ts";
import { effectLifecycle } from "../src/host/lifecycle/effect.ts";
import { interactionLifecycle } from "../src/host/lifecycle/interaction.ts";
import { messageLifecycle } from "../src/host/lifecycle/message.ts";
import { runLifecycle } from "../src/host/lifecycle/run.ts";
import { sessionLifecycle } from "../src/host/lifecycle/session.ts";
import { submissionLifecycle } from "../src/host/lifecycle/submission.ts";
import { turnLifecycle } from "../src/host/lifecycle/turn.ts";

/** What the page needs of a lifecycle, whatever its statuses are called. */
interface Lifecycle {
  readonly noun: string;
  readonly table: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

interface Move {
  readonly from: string;
  readonly event: string;
  readonly to: string;
}

export const PAGE = join(import.meta.dirname, "../docs/lifecycle.md");

const LIFECYCLES: readonly Lifecycle[] = [
  runLifecycle,
  attemptLifecycle,
  interactionLifecycle,
  submissionLifecycle,
  messageLifecycle,
  turnLifecycle,
  sessionLifecycle,
  effectLifecycle,
];

/** The page with every generated passage made anew; the prose around them stays. */
export function renew(page: string): string {
  return LIFECYCLES.reduce((text, lifecycle) => {
    const begin = `<!-- generated: ${lifecycle.noun} -->\n`;
    const end = `<!-- end: ${lifecycle.noun} -->`;
    const [before, rest] = split(text, begin);
    const [, after] = split(rest, end);
    return `${before}${begin}\n${passage(lifecycle)}\n${end}${after}`;
  }, page);
}

function passage(lifecycle: Lifecycle): string {
  return `${diagram(lifecycle)}\n\n${list(lifecycle)}\n`;
}

function diagram({ table }: Lifecycle): string {
  const first = Object.keys(table).slice(0, 1);
  const lines = [
    ...first.map((status) => `[*] --> ${status}`),
    ...arrows(table),
    ...finals(table).map((status) => `${status} --> [*]`),
  ];
  return ["```mermaid", "stateDiagram-v2", ...lines.map((line) => `  ${line}`), "```"].join("\n");
}

/** One arrow for a pair of statuses, with all events that lead from the one to the other. */
function arrows(table: Lifecycle["table"]): readonly string[] {
  const events = new Map<string, string[]>();
  for (const { from, event, to } of moves(table)) {
    const arrow = `${from} --> ${to}`;
    events.set(arrow, [...(events.get(arrow) ?? []), event]);
  }
  return [...events].map(([arrow, names]) => `${arrow}: ${names.join(", ")}`);
}

function moves(table: Lifecycle["table"]): readonly Move[] {
  return Object.entries(table).flatMap(([from, row]) =>
    Object.entries(row).flatMap(([event, targets]) => targets.map((to) => ({ from, event, to }))),
  );
}

function finals(table: Lifecycle["table"]): readonly string[] {
  return Object.keys(table).filter((status) => Object.keys(table[status] ?? {}).length === 0);
}

function list({ table }: Lifecycle): string {
  return Object.entries(table)
    .map(([from, row]) => `- \`${from}\`${describe(row)}`)
    .join("\n");
}

function describe(row: Readonly<Record<string, readonly string[]>>): string {
  const events = Object.entries(row).map(([event, to]) => `${event} → ${to.join(" or ")}`);
  return events.length === 0 ? " is final" : `: ${events.join("; ")}`;
}

function split(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  if (at === -1) throw new Error(`docs/lifecycle.md has no line ${mark.trim()}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

if (import.meta.main) writeFileSync(PAGE, renew(readFileSync(PAGE, "utf8")));
