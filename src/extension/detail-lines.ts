/** One run with what a person or a model wants to know of it, in bounded lines. Pure. */
import type { Interaction } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import type { Attempt } from "../gen/piworkflows/common/v1/attempt_pb.ts";
import type { RunSummary, RunView } from "../gen/piworkflows/common/v1/run_pb.ts";
import { valueJson } from "../client/json-value.ts";
import { cut, duration, fromNow, localTime, plural, safe, shortJson } from "../platform/text.ts";
import { attemptWord, DELIVERY, hasEnded, INTERACTION_KIND, kindName, msOf } from "./run-words.ts";
import { RUN_STATUS, statusWords } from "./run-words.ts";
import type { Role, StyledLine } from "./run-words.ts";

const ATTEMPTS_SHOWN = 12;
const VALUE_CHARS = 1_500;
const TEXT_CHARS = 400;

const DELIVERY_WORDS: Readonly<Record<number, string>> = {
  [DELIVERY.waiting]: "its message waits for its turn in the session",
  [DELIVERY.offered]: "its message is on its way into the session",
  [DELIVERY.delivered]: "its message stands in the session",
  [DELIVERY.working]: "a model works on it",
  [DELIVERY.held]: "held back for the provider's limit",
};

/** The whole of it, at most some thirty lines. */
export function detailLines(view: RunView, now: number): readonly StyledLine[] {
  const run = view.summary;
  if (run === undefined) return [];
  return [
    headLine(run),
    ...factLines(view, run, now),
    ...requestLines(view.interaction, now),
    ...hindranceLines(view, run),
    ...view.attempts.slice(-ATTEMPTS_SHOWN).map((attempt) => attemptLine(attempt, now)),
    ...endLines(view),
  ];
}

/** "▶ running run_… title". */
export function headLine(run: RunSummary): StyledLine {
  const { sign, word, role } = statusWords(run);
  const title = safe(run.title === "" ? run.workflow : run.title);
  return { role, bold: true, text: `${sign} ${word} ${run.runId} ${title}` };
}

function factLines(view: RunView, run: RunSummary, now: number): readonly StyledLine[] {
  const facts: readonly (readonly [string, string])[] = [
    ["workflow", `${safe(run.workflow)}  ${safe(view.workflowPath)}`],
    ["project", safe(run.projectDir)],
    timeFact(run, now),
  ];
  return pairs([...facts, ...(hasEnded(run) ? [] : liveFacts(view, run, now))]);
}

function liveFacts(
  { progress }: RunView,
  run: RunSummary,
  now: number,
): readonly (readonly [string, string])[] {
  // A request tells its deadline itself.
  const due = run.interactionId === "" ? msOf(run.dueAt) : undefined;
  const update = progress.find(({ node }) => node === run.node)?.text ?? "";
  return [
    ["at", run.node === "" ? "" : `${safe(run.node)} (step ${run.steps})`],
    ["update", short(update === "" ? run.statusDetail : update)],
    ["goes on", due === undefined ? "" : fromNow(due, now)],
    ["session", safe(run.originSession)],
  ];
}

function timeFact(run: RunSummary, now: number): readonly [string, string] {
  const created = msOf(run.createdAt) ?? now;
  const finished = msOf(run.finishedAt);
  return [finished === undefined ? "for" : "took", duration((finished ?? now) - created)];
}

function requestLines(interaction: Interaction | undefined, now: number): readonly StyledLine[] {
  if (interaction === undefined) return [];
  const { interactionId, kind, summary, delivery, lastError, reminders } = interaction;
  const deadline = msOf(interaction.deadlineAt);
  const until = deadline === undefined ? "" : `${localTime(deadline)} (${fromNow(deadline, now)})`;
  const end = interaction.hasDefault ? "default at" : "expires";
  return [
    { role: "warning", text: `waits for ${kindWords(kind)}: ${short(summary)}` },
    ...pairs([
      ["id", interactionId],
      ["answered", wayToAnswer(kind, interactionId)],
      ["session", DELIVERY_WORDS[delivery] ?? ""],
      ["held", heldWords(interaction, now)],
      [end, until],
      ["rejected", short(lastError)],
      ["reminded", reminders === 0 ? "" : plural(reminders, "time")],
    ]),
  ];
}

function heldWords({ delivery, heldUntil }: Interaction, now: number): string {
  const until = msOf(heldUntil);
  return delivery !== DELIVERY.held || until === undefined ? "" : `goes on ${fromNow(until, now)}`;
}

function kindWords(kind: number): string {
  switch (kind) {
    case INTERACTION_KIND.agent:
      return "a model's result";
    case INTERACTION_KIND.reply:
      return "a model's reply";
    case INTERACTION_KIND.checkpoint:
      return "an answer";
    case INTERACTION_KIND.human_decision:
      return "a person's decision";
    default:
      return kindName(kind);
  }
}

function wayToAnswer(kind: number, id: string): string {
  switch (kind) {
    case INTERACTION_KIND.agent:
      return "by the model: workflow tool, action submit";
    case INTERACTION_KIND.reply:
      return "by what the model says in its turn";
    case INTERACTION_KIND.checkpoint:
      return `/workflow answer ${id}`;
    default:
      return `by a person only: /workflow decide ${id}`;
  }
}

function hindranceLines(view: RunView, run: RunSummary): readonly StyledLine[] {
  const lines: StyledLine[] = [];
  if (run.status === RUN_STATUS.paused)
    lines.push(warning(`paused: /workflow resume ${run.runId}`));
  if (run.status === RUN_STATUS.blocked) lines.push(warning(`blocked: ${short(run.detail)}`));
  for (const file of view.changedFiles) lines.push(warning(`changed: ${safe(file)}`));
  if (run.ambiguousEffects > 0) {
    const effects = plural(run.ambiguousEffects, "effect");
    lines.push(warning(`${effects} with an unknown outcome: pi-workflows show ${run.runId}`));
  }
  return lines;
}

function attemptLine(attempt: Attempt, now: number): StyledLine {
  const { word, role } = attemptWord(attempt.status);
  const started = msOf(attempt.startedAt) ?? now;
  const took = duration((msOf(attempt.finishedAt) ?? now) - started);
  const again = attempt.attempt > 1 ? ` try ${attempt.attempt}` : "";
  const visit = attempt.visit > 1 ? ` visit ${attempt.visit}` : "";
  const { error } = attempt;
  const why = error === undefined ? "" : `  ${short(`${error.name}: ${error.message}`)}`;
  return {
    role,
    text: `  ${word.padEnd(11)} ${safe(attempt.node)}${visit}${again}  ${took}${why}`,
  };
}

function endLines({ error, result, summary }: RunView): readonly StyledLine[] {
  if (error !== undefined) {
    return [{ role: "error", text: short(`${error.name}: ${error.message}`) }];
  }
  if (result === undefined || summary?.status !== RUN_STATUS.completed) return [];
  return [{ role: "success", text: `result: ${shortJson(valueJson(result), VALUE_CHARS)}` }];
}

function pairs(list: readonly (readonly [string, string])[]): readonly StyledLine[] {
  const role: Role = "muted";
  return list
    .filter(([, value]) => value.trim() !== "")
    .map(([label, value]) => ({ role, text: `  ${label.padEnd(9)} ${value}` }));
}

function warning(text: string): StyledLine {
  return { role: "warning", text };
}

function short(text: string): string {
  return cut(safe(text), TEXT_CHARS);
}
