/** What stands on the card of a message: the short form, and the whole. Pure. */
import { cut, localTime, safe, safeLines } from "../platform/text.ts";
import type { MessageDetails } from "./message-details.ts";
import { wordsOf } from "./run-words.ts";
import type { Role, StyledLine } from "./run-words.ts";
import { MODEL_SIGN, YOUR_SIGN } from "./standing.ts";

/** What a collapsed card shows of a text that has no summary of its own. */
const SHORT_LINES = 3;
const SHORT_CHARS = 240;
/** Enough to know again what is to be decided. */
const SUBJECT_LINES = 2;
const GIST_LINES = 2;
const FIELD_CHARS = 80;
const RESULT_BLOCK = /result:\n\n(`{3,})\w*\n([\s\S]*?)\n\1/i;

const REASONS: Readonly<Record<MessageDetails["reason"], string>> = {
  first: "",
  reminder: "reminder",
  resumed: "shown again",
  rate_limit: "after the provider's limit",
  model_error: "tried again after an error of the model",
};

/** The lines of a card; the first is its head. */
export function cardLines(
  details: MessageDetails,
  text: string,
  expanded: boolean,
): readonly StyledLine[] {
  // The whole text has all that the foot would say again.
  const foot =
    expanded && text.includes(`/workflow decide ${details.interactionId}`)
      ? []
      : footLines(details);
  const unsuccessful = expanded ? [] : unsuccessfulLines(details, text);
  return [headLine(details, text), ...bodyLines(details, text, expanded), ...unsuccessful, ...foot];
}

function headLine(details: MessageDetails, body: string): StyledLine {
  // Completed, but not as one would wish: some step failed, and the workflow went another way.
  const isMarked = unsuccessfulLines(details, body).length > 0;
  const [sign, role] = isMarked ? (["!", "warning"] as const) : signOf(details);
  const title = safe(details.runTitle === "" ? details.workflow : details.runTitle);
  const place = details.node === "" ? "" : ` · ${safe(details.node)}`;
  const reason = REASONS[details.reason];
  return {
    role,
    bold: true,
    text: `${sign} ${kindWords(details)}: ${title}${place}${reason === "" ? "" : ` (${reason})`}`,
  };
}

function signOf({ kind, interactionKind, runStatus }: MessageDetails): readonly [string, Role] {
  switch (kind) {
    case "step": {
      const { sign, role } = interactionKind === "checkpoint" ? YOUR_SIGN : MODEL_SIGN;
      return [sign, role];
    }
    case "human_decision":
      return [YOUR_SIGN.sign, YOUR_SIGN.role];
    case "notification":
      return ["•", "accent"];
    case "result":
      return [wordsOf(runStatus).sign, wordsOf(runStatus).role];
  }
}

function kindWords({ kind, interactionKind, runStatus }: MessageDetails): string {
  if (kind === "human_decision") return "your decision";
  if (kind === "notification") return "workflow note";
  if (kind === "result") return `workflow ${runStatus === "" ? "ended" : wordsOf(runStatus).word}`;
  return interactionKind === "checkpoint" ? "workflow question" : "workflow step";
}

function bodyLines(
  details: MessageDetails,
  text: string,
  expanded: boolean,
): readonly StyledLine[] {
  const whole = safeLines(text).replace(/\s+$/, "").split("\n");
  if (expanded) return wholeLines(details, whole);
  switch (details.kind) {
    case "notification":
      // The head says from which run it comes.
      return shortened(whole[0]?.startsWith('Workflow "') === true ? whole.slice(1) : whole);
    case "result":
      return gist(text).map((line) => ({ role: "text", text: shortLine(safe(line)) }));
    case "human_decision":
      return [details.summary, ...subjectLines(details, text)]
        .filter((line) => line !== "")
        .map((line) => ({ role: "text", text: shortLine(safe(line)) }));
    default:
      return details.summary === ""
        ? shortened(whole)
        : [{ role: "text", text: shortLine(safe(details.summary)) }];
  }
}

/** All of it, less what the head says already, and with times as the user reads them elsewhere. */
function wholeLines({ kind, deadlineAt }: MessageDetails, text: readonly string[]): StyledLine[] {
  const isSaid = kind === "result" && text[0]?.startsWith('Workflow "') === true;
  const lines = isSaid ? text.slice(text[1] === "" ? 2 : 1) : text;
  const due = Date.parse(deadlineAt);
  return lines.map((line) => ({
    role: "text",
    text: Number.isNaN(due) ? line : line.replaceAll(deadlineAt, localTime(due)),
  }));
}

/** The beginning of what is to be decided: the text has it between the summary and the choices. */
function subjectLines({ summary }: MessageDetails, text: string): readonly string[] {
  const start = text.indexOf(summary);
  const end = text.lastIndexOf("\n\nChoices:\n");
  if (summary === "" || start < 0 || end < start) return [];
  const lines = text
    .slice(start + summary.length, end)
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("```"));
  const shown = lines.slice(0, SUBJECT_LINES);
  const last = shown.at(-1);
  return last === undefined || lines.length <= SUBJECT_LINES
    ? shown
    : [...shown.slice(0, -1), `${last} …`];
}

function unsuccessfulLines({ kind }: MessageDetails, text: string): readonly StyledLine[] {
  if (kind !== "result") return [];
  const line = /^Steps that did not succeed: .*$/m.exec(withoutResult(text))?.[0];
  return line === undefined ? [] : [{ role: "warning", text: shortLine(safe(line)) }];
}

/** A result is anybody's text and marks nothing. */
function withoutResult(text: string): string {
  return text.replace(RESULT_BLOCK, "");
}

/** What came out of a run, in a line or two: the text tells it below words that a model needs. */
function gist(text: string): readonly string[] {
  const why = /^(?:Error|Note): .*$/m.exec(text)?.[0];
  if (why !== undefined) return [why];
  const block = RESULT_BLOCK.exec(text)?.[2];
  return block === undefined ? [] : valueGist(block);
}

/** A text by its first lines, an object by its fields; of what was cut, its beginning. */
function valueGist(block: string): readonly string[] {
  const value = parsed(block);
  if (typeof value === "string") {
    const lines = value.split("\n").filter((line) => line.trim() !== "");
    const more = lines.length > GIST_LINES ? " …" : "";
    return lines.slice(0, GIST_LINES).map((line, index) => line + (index === 1 ? more : ""));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [block.replaceAll(/\s+/g, " ")];
  }
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${fieldText(field)}`);
  return [fields.join(" · ")];
}

function fieldText(field: unknown): string {
  return cut(typeof field === "string" ? field : JSON.stringify(field), FIELD_CHARS);
}

function parsed(block: string): unknown {
  try {
    return JSON.parse(block) as unknown;
  } catch {
    return undefined;
  }
}

function shortened(lines: readonly string[]): readonly StyledLine[] {
  const said = lines.filter((line) => line.trim() !== "");
  const shown = said.slice(0, SHORT_LINES).map(shortLine);
  if (said.length > SHORT_LINES) shown.push("…");
  return shown.map((text) => ({ role: "text", text }));
}

function shortLine(line: string): string {
  return cut(line, SHORT_CHARS);
}

function footLines(details: MessageDetails): readonly StyledLine[] {
  const { kind, choices, interactionId, interactionKind } = details;
  if (interactionKind === "checkpoint") {
    const text = `/workflow answer ${safe(interactionId)}${deadline(details)}`;
    return [{ role: "accent", text }];
  }
  if (kind !== "human_decision") return [];
  const listed = choices.map(({ label }) => safe(label)).join(" / ");
  return [
    ...(listed === "" ? [] : [{ role: "muted", text: `choices: ${listed}` } as const]),
    { role: "accent", text: `/workflow decide ${safe(interactionId)}${deadline(details)}` },
  ];
}

function deadline({ deadlineAt }: MessageDetails): string {
  const ms = Date.parse(deadlineAt);
  return Number.isNaN(ms) ? "" : `  (until ${localTime(ms)})`;
}
