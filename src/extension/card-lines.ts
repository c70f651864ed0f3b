/** What stands on the card of a message: the short form, and the whole. Pure. */
import { cut, localTime, safe, safeLines } from "../platform/text.ts";
import type { MessageDetails } from "./message-details.ts";
import { wordsOf } from "./run-words.ts";
import type { Role, StyledLine } from "./run-words.ts";

/** What a collapsed card shows of a text that has no summary of its own. */
const SHORT_LINES = 3;
const SHORT_CHARS = 240;

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
  return [headLine(details), ...bodyLines(details, text, expanded), ...footLines(details)];
}

function headLine(details: MessageDetails): StyledLine {
  const [sign, role] = signOf(details);
  const title = safe(details.runTitle === "" ? details.workflow : details.runTitle);
  const place = details.node === "" ? "" : ` · ${safe(details.node)}`;
  const reason = REASONS[details.reason];
  return {
    role,
    bold: true,
    text: `${sign} ${kindWords(details)}: ${title}${place}${reason === "" ? "" : ` (${reason})`}`,
  };
}

function signOf({ kind, runStatus }: MessageDetails): readonly [string, Role] {
  switch (kind) {
    case "step":
      return ["◆", "accent"];
    case "human_decision":
      return ["◆", "warning"];
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
  if (expanded) return whole.map((line) => ({ role: "text", text: line }));
  switch (details.kind) {
    case "notification":
      // The head says from which run it comes.
      return shortened(whole[0]?.startsWith('Workflow "') === true ? whole.slice(1) : whole);
    case "result":
      return gist(text).map((line) => ({ role: "text", text: shortLine(safe(line)) }));
    default:
      return details.summary === ""
        ? shortened(whole)
        : [{ role: "text", text: shortLine(safe(details.summary)) }];
  }
}

/** What came out of a run, in one line: the text tells it below words that a model needs. */
function gist(text: string): readonly string[] {
  const why = /^(?:Error|Note): .*$/m.exec(text)?.[0];
  if (why !== undefined) return [why];
  const block = /result:\n\n(`{3,})\w*\n([\s\S]*?)\n\1/i.exec(text)?.[2];
  return block === undefined ? [] : [block.replaceAll(/\s+/g, " ")];
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
  const { kind, choices, interactionId } = details;
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
