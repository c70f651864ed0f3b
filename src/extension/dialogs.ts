/** Asking the person in the session. Every dialog has a signal: an open one would block Pi. */
import type { JsonValue } from "@bufbuild/protobuf";
import { answerOf, choicesOf } from "../client/answer-choices.ts";
import { valueJson } from "../client/json-value.ts";
import { valueLines } from "../client/value-lines.ts";
import type {
  HumanChoice,
  Interaction,
  TextInput,
} from "../gen/piworkflows/common/v1/interaction_pb.ts";
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";
import { systemClock } from "../platform/clock.ts";
import { localTime, safe, safeLines, shortJson } from "../platform/text.ts";
import { CommandError } from "./command/call.ts";
import type { CommandPlace } from "./command/call.ts";
import { msOf, statusWords } from "./run-words.ts";
import type { SessionLink } from "./session-link.ts";
import { viewText } from "./text-view.ts";

export interface Decided {
  readonly choice: string;
  readonly text: string;
}

/** More than that does not fit above the choices of a dialog on a small terminal. */
const DIALOG_LINES_MAX = 14;
const DIALOG_COLUMNS = 76;
const SCHEMA_CHARS = 300;
/** Nobody reads what is asked in less; it was an Enter key that was meant for something else. */
const READING_MS = 700;
const NOT_MEANT = "No, ask again";
const MEANT = "Yes";

/** One of several runs; the only one is not asked for. */
export async function chooseRun(
  place: CommandPlace,
  runs: readonly RunSummary[],
  { verb, signal }: { readonly verb: string; readonly signal: AbortSignal },
): Promise<RunSummary | undefined> {
  if (runs.length === 0) throw new CommandError(`There is no run of this session to ${verb}.`);
  if (runs.length === 1) return runs[0];
  const labels = runs.map((run) => `${run.runId} ${statusWords(run).word}: ${safe(run.title)}`);
  const chosen = await place.ui.select(`Which run do you want to ${verb}?`, labels, { signal });
  return chosen === undefined ? undefined : runs[labels.indexOf(chosen)];
}

/** Shows the whole subject, then asks for a choice and, where it has one, its text. */
export async function askDecision(
  place: CommandPlace,
  interaction: Interaction,
  signal: AbortSignal,
): Promise<Decided | undefined> {
  const subject = await shownSubject(place, interaction, signal);
  if (subject === undefined) return undefined;
  const choice = await askChoice(place, { subject, choices: interaction.choices, signal });
  if (choice === undefined) return undefined;
  if (choice.input === undefined) return { choice: choice.id, text: "" };
  const text = await askText(place, choice.input, signal);
  return text === undefined ? undefined : { choice: choice.id, text };
}

/** A value for a checkpoint: a choice where its schema leaves one, else what is typed. */
export async function askAnswer(
  place: CommandPlace,
  interaction: Interaction,
  signal: AbortSignal,
): Promise<JsonValue | undefined> {
  const schema = valueJson(interaction.schema);
  const subject = await shownSubject(place, interaction, signal);
  if (subject === undefined) return undefined;
  const choices = choicesOf(schema);
  if (choices.length > 0) {
    const labels = choices.map(({ label }) => safe(label));
    const picked = await place.ui.select(subject, labels, { signal });
    return picked === undefined ? undefined : choices[labels.indexOf(picked)]?.value;
  }
  const hint = schema === null ? "JSON or text" : shortJson(schema, SCHEMA_CHARS);
  const typed = await place.ui.input(subject, hint, { signal });
  return typed === undefined ? undefined : answerOf(typed, schema);
}

/** What is asked, whole: its title, its subject, who is meant and until when. */
export function subjectLines(interaction: Interaction): readonly string[] {
  const request = valueJson(interaction.request);
  const { title: asked, body } = partsOf(request, safeLines(interaction.summary));
  // Several runs may ask alike; an open dialog says whose it is.
  const title = interaction.runTitle === "" ? asked : `${safe(interaction.runTitle)} · ${asked}`;
  const deadline = msOf(interaction.deadlineAt);
  const at = deadline === undefined ? "" : localTime(deadline);
  const end = interaction.hasDefault ? "A default applies at" : "Expires at";
  const notes = [
    interaction.audience === "" ? "" : `For: ${safe(interaction.audience)}`,
    at === "" ? "" : `${end} ${at}`,
  ].filter((line) => line !== "");
  return [title, ...spaced(body), ...spaced(notes)];
}

/** Aborted when the request is answered somewhere else, as far as the session's picture tells. */
export function untilClosed(
  link: SessionLink,
  interactionId: string,
  ended: AbortSignal,
): { readonly signal: AbortSignal; stop(): void } {
  const closed = new AbortController();
  const isOpen = (): boolean =>
    link.picture?.runs.some(({ summary }) => summary?.interactionId === interactionId) ?? false;
  // A request of another session is in no picture of this one.
  const stop = isOpen()
    ? link.onChange(() => {
        if (!isOpen()) closed.abort();
      })
    : () => undefined;
  return { signal: AbortSignal.any([ended, closed.signal]), stop };
}

/** The text above the choices; a long subject is shown on a screen of its own first. */
async function shownSubject(
  place: CommandPlace,
  interaction: Interaction,
  signal: AbortSignal,
): Promise<string | undefined> {
  const lines = subjectLines(interaction);
  const height = lines.reduce(
    (sum, line) => sum + Math.ceil((line.length + 1) / DIALOG_COLUMNS),
    0,
  );
  if (place.mode !== "tui" || height <= DIALOG_LINES_MAX) return lines.join("\n");
  const goesOn = await viewText(place, { lines, hint: "enter: decide", signal });
  return goesOn ? (lines[0] ?? "") : undefined;
}

interface Parts {
  readonly title: string;
  readonly body: readonly string[];
}

function partsOf(request: JsonValue, summary: string): Parts {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return { title: summary, body: request === null ? [] : valueLines(request) };
  }
  const { title, subject, presentation, ...others } = request;
  const isTitled = typeof title === "string";
  const rest: JsonValue = isTitled
    ? others
    : { ...others, ...(title === undefined ? {} : { title }) };
  const body = [presentation, subject, Object.keys(rest).length === 0 ? undefined : rest]
    .filter((part) => part !== undefined)
    .map(valueLines);
  return { title: isTitled ? safe(title) : summary, body: body.flatMap(spaced).slice(1) };
}

function spaced(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", ...lines];
}

interface Choosing {
  readonly subject: string;
  readonly choices: readonly HumanChoice[];
  readonly signal: AbortSignal;
}

async function askChoice(
  place: CommandPlace,
  choosing: Choosing,
): Promise<HumanChoice | undefined> {
  const { subject, choices, signal } = choosing;
  const labels = labelsOf(choices);
  for (;;) {
    const asked = systemClock.monotonic();
    const picked = await place.ui.select(subject, [...labels], { signal });
    const choice = picked === undefined ? undefined : choices[labels.indexOf(picked)];
    const isRead = place.mode !== "tui" || systemClock.monotonic() - asked >= READING_MS;
    if (choice === undefined || isRead) return choice;
    // The Enter key alone must not lead on here.
    const title = `"${safe(choice.label)}" was chosen at once. Is it meant?`;
    const answer = await place.ui.select(title, [NOT_MEANT, MEANT], { signal });
    if (answer === MEANT) return choice;
    if (answer === undefined) return undefined;
  }
}

/** Two choices that read alike are told apart by their ids. */
function labelsOf(choices: readonly HumanChoice[]): readonly string[] {
  const labels = choices.map(({ label }) => safe(label));
  return choices.map(({ id }, index) => {
    const label = labels[index] ?? "";
    return labels.filter((other) => other === label).length > 1 ? `${label} (${safe(id)})` : label;
  });
}

async function askText(
  { ui }: CommandPlace,
  { prompt, minLength, maxLength }: TextInput,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    const typed = await ui.input(safeLines(prompt), undefined, { signal });
    if (typed === undefined) return undefined;
    const length = Array.from(typed).length;
    const isLong = maxLength > 0 && length > maxLength;
    if (length >= minLength && !isLong) return typed;
    const bound = isLong ? `at most ${maxLength}` : `at least ${minLength}`;
    ui.notify(`The text must have ${bound} characters; it has ${length}.`, "warning");
  }
}
