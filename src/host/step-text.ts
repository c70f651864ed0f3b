/**
 * The text of every message that the host puts into a Pi session. A model reads
 * it, so it says which call to make, with which id, what counts as a result and
 * what does not. Pure: equal facts give equal texts.
 */
import type { RunStatus } from "./lifecycle/run.ts";
import type { FailureRecord, Instant } from "./records.ts";
import type { ChoiceRecord, InteractionContract } from "./records-sessions.ts";
import type { InteractionKind, MessageReason } from "./records-sessions.ts";
import { cut, fenced, list, oneLine, paragraphs, pretty } from "./text-parts.ts";
import type { Part } from "./text-parts.ts";

/** The facts of a request that is shown in a session. */
export interface RequestFacts {
  readonly runTitle: string;
  readonly node: string;
  readonly interactionId: string;
  readonly kind: InteractionKind;
  readonly reason: MessageReason;
  readonly summary: string;
  readonly contract: InteractionContract;
  /** JSON text of what the author built. */
  readonly request?: string;
  /** JSON text of the schema. */
  readonly schema?: string;
  readonly deadlineAt?: Instant;
  /** JSON text of the answer that applies at the deadline. */
  readonly defaultAnswer?: string;
  readonly lastError?: string;
}

export interface NotificationFacts {
  readonly runTitle: string;
  readonly text: string;
  readonly final: boolean;
}

/** The facts of a run that has ended. */
export interface EndFacts {
  readonly runId: string;
  readonly runTitle: string;
  readonly workflow: string;
  readonly status: RunStatus;
  /** Visits that the run made. */
  readonly steps: number;
  /** The beginning of the result's JSON text, and whether that is all of it. */
  readonly result?: { readonly text: string; readonly whole: boolean };
  readonly error?: FailureRecord;
  /** Why it was cancelled. */
  readonly note?: string;
  /** Nodes whose last attempt did not succeed, and how it ended: "draft (timed_out)". */
  readonly unsuccessful?: readonly string[];
  readonly startsTurn: boolean;
}

/** Longer parts are cut: what a model reads is paid for, and the whole is a call away. */
const SCHEMA_CHARS_MAX = 24_000;
const REQUEST_CHARS_MAX = 8_000;
const ERROR_CHARS_MAX = 4_000;

const RULE = "---";

/** How much of a result is shown; `status` shows the rest. */
export const RESULT_CHARS_SHOWN = 4_000;

/** The whole text of a step or of a card for a person. */
export function requestText(facts: RequestFacts): string {
  return paragraphs([...BODIES[facts.kind](facts), deadlineLine(facts)]);
}

/** Plain news of a run; nobody has to answer. */
export function notificationText({ runTitle, text, final }: NotificationFacts): string {
  const from = `Workflow "${oneLine(runTitle)}"${final ? ", final word" : ""}:`;
  return paragraphs([from, text.trim()]);
}

/** How a run ended and what came out. */
export function resultText(facts: EndFacts): string {
  const { runId, runTitle, workflow, status, steps, startsTurn } = facts;
  return paragraphs([
    `Workflow "${oneLine(runTitle)}" ${ENDINGS[status] ?? `is ${status}`}.`,
    `Run ${runId} of workflow ${workflow}, ${steps} ${steps === 1 ? "step" : "steps"}.`,
    resultPart(facts),
    errorPart(facts),
    unsuccessfulPart(facts),
    `To see all of it, call the tool \`workflow\` with ${call("status", { run: runId })}, or run ` +
      `"pi-workflows show ${runId}" in a terminal.`,
    startsTurn ? AFTER_THE_END : undefined,
  ]);
}

const NODES_SHOWN = 10;

/** A run may complete although a step failed: the workflow had a way for that. */
function unsuccessfulPart({ status, unsuccessful = [] }: EndFacts): Part {
  if (status !== "completed" || unsuccessful.length === 0) return undefined;
  const more = unsuccessful.length > NODES_SHOWN ? ", …" : "";
  return `Steps that did not succeed: ${unsuccessful.slice(0, NODES_SHOWN).join(", ")}${more}`;
}

const AFTER_THE_END =
  "Tell the user in a few words how the workflow ended and what came out. Go on with further " +
  "work only as far as the user has already asked for it. Do not start the workflow again.";

const ENDINGS: Readonly<Partial<Record<RunStatus, string>>> = {
  completed: "has completed",
  failed: "has failed",
  timed_out: "has run out of time",
  cancelled: "was cancelled",
};

const BODIES: Readonly<Record<InteractionKind, (facts: RequestFacts) => readonly Part[]>> = {
  agent: agentBody,
  reply: replyBody,
  checkpoint: checkpointBody,
  human_decision: decisionBody,
};

function agentBody(facts: RequestFacts): readonly Part[] {
  const { interactionId, contract } = facts;
  return [
    heading(facts),
    whyAgain(facts),
    contract.prompt,
    RULE,
    "How to finish this step:",
    contract.expectedOutput === undefined || contract.expectedOutput === ""
      ? undefined
      : `What counts as a valid result: ${contract.expectedOutput}`,
    schemaPart("The result must fit this JSON Schema:", facts.schema),
    `When you have the result, call the tool \`workflow\` with exactly these arguments, and with ` +
      `your result as \`value\`:`,
    fenced(call("submit", { interaction: interactionId }, "value")),
    list([
      "`value` is the result itself as JSON, not a description of it and not a string that holds JSON.",
      "The result is checked. If it is rejected, the tool says why and this step stays open: correct " +
        "the result and submit it again with the same interaction id.",
      "The step is finished only when the tool says that the result was accepted. An answer in " +
        "prose alone does not finish it.",
      updateLine(interactionId),
      toolsLine(contract.allowedTools),
    ]),
  ];
}

function replyBody(facts: RequestFacts): readonly Part[] {
  const { interactionId, contract } = facts;
  const limit = contract.replyCharsMax;
  return [
    heading(facts),
    whyAgain(facts),
    contract.prompt,
    RULE,
    "How to finish this step:",
    list([
      "Your next answer is the result: the last text that you write in this turn is taken as it " +
        "is. Write only what belongs to the result. No tool call hands it in.",
      "An empty answer, or one that is cut off, does not count.",
      limit === undefined ? undefined : `Write at most ${limit} characters.`,
      updateLine(interactionId),
      toolsLine(contract.allowedTools),
    ]),
  ];
}

function checkpointBody(facts: RequestFacts): readonly Part[] {
  const { interactionId, summary, request, schema } = facts;
  return [
    heading(facts),
    whyAgain(facts),
    summary,
    request === undefined ? undefined : fenced(pretty(request, REQUEST_CHARS_MAX), "json"),
    RULE,
    "The workflow waits for an answer to this question. Anybody may give it.",
    schemaPart("The answer must fit this JSON Schema:", schema),
    "If the user has already said what the answer is, or you can find it out for certain, call the " +
      "tool `workflow` with exactly these arguments, and with the answer as `value`:",
    fenced(call("answer", { interaction: interactionId }, "value")),
    "Otherwise do not guess: tell the user what is asked, and end your turn. The question stays " +
      "open, and the user can answer it here or elsewhere.",
  ];
}

function decisionBody(facts: RequestFacts): readonly Part[] {
  const { interactionId, contract, summary, request } = facts;
  const audience = oneLine(contract.audience ?? "");
  const whom = audience === "" ? "" : `, from: ${audience}`;
  return [
    `Decision needed in workflow "${oneLine(facts.runTitle)}", step ${facts.node}${whom}`,
    summary,
    request === undefined ? undefined : subjectPart(request),
    `Choices:\n${(contract.choices ?? []).map(choiceLine).join("\n")}`,
    `Only a person decides this: with "/workflow decide ${interactionId}" in this session, or with ` +
      `"pi-workflows decide ${interactionId}" in a terminal. A model cannot, and no tool call does it.`,
  ];
}

function heading({ runTitle, node }: RequestFacts): string {
  return `Workflow "${oneLine(runTitle)}", step ${node}`;
}

const REASONS: Readonly<Record<MessageReason, string | undefined>> = {
  first: undefined,
  reminder:
    "Reminder: your last turn has ended and this step has no valid result yet. Go on with it now.",
  resumed: "This step is open still and is shown again. Go on where it was left.",
  rate_limit: "The provider takes requests again. Go on with this step.",
  model_error: "The last turn ended with an error of the model. Go on with this step.",
};

/** Says first why the same step is shown again, and what was wrong with the last result. */
function whyAgain({ kind, reason, lastError }: RequestFacts): Part {
  const why = REASONS[reason];
  const what = kind === "reply" ? "The last answer did not count" : "The last result was rejected";
  const error =
    lastError === undefined || lastError === ""
      ? undefined
      : `${what}: ${cut(lastError, ERROR_CHARS_MAX)}`;
  return why === undefined && error === undefined ? undefined : paragraphs([why, error]);
}

function updateLine(interactionId: string): string {
  const update = call("update", { interaction: interactionId }, "text");
  return `To tell how it is coming along, call the tool \`workflow\` with ${update}.`;
}

function toolsLine(allowed: readonly string[] | undefined): Part {
  if (allowed === undefined) return undefined;
  const others = allowed.filter((name) => name !== "workflow").map((name) => `\`${name}\``);
  const named = others.length === 0 ? "" : `${others.join(", ")} and `;
  return `In this step you may use only ${named}the tool \`workflow\`.`;
}

function deadlineLine({ deadlineAt, defaultAnswer }: RequestFacts): Part {
  if (deadlineAt === undefined) return undefined;
  const time = new Date(deadlineAt).toISOString();
  return defaultAnswer === undefined
    ? `It must be answered before ${time}.`
    : `If nobody has answered by ${time}, this applies: ${defaultAnswer}`;
}

function choiceLine({ id, label, input }: ChoiceRecord): string {
  const line = `- ${id}: ${oneLine(label)}`;
  if (input === undefined) return line;
  const { prompt, minLength, maxLength } = input;
  return `${line} (asks for a text of ${minLength} to ${maxLength} characters: ${oneLine(prompt)})`;
}

/** A decision's request has a title, which the summary tells, and what it is about. */
function subjectPart(request: string): Part {
  const parsed = JSON.parse(request) as unknown;
  if (typeof parsed !== "object" || parsed === null || !("subject" in parsed)) {
    return fenced(pretty(request, REQUEST_CHARS_MAX), "json");
  }
  const { subject } = parsed;
  if (subject === null || subject === undefined) return undefined;
  if (typeof subject === "string") return cut(subject, REQUEST_CHARS_MAX);
  return fenced(pretty(JSON.stringify(subject), REQUEST_CHARS_MAX), "json");
}

function schemaPart(intro: string, schema: string | undefined): Part {
  if (schema === undefined) return undefined;
  return `${intro}\n\n${fenced(pretty(schema, SCHEMA_CHARS_MAX), "json")}`;
}

function resultPart({ result }: EndFacts): Part {
  if (result === undefined) return undefined;
  const { text, whole } = result;
  return whole
    ? `Result:\n\n${fenced(pretty(text, RESULT_CHARS_SHOWN * 2), "json")}`
    : `The beginning of its result:\n\n${fenced(`${text} …`)}`;
}

function errorPart({ error, note }: EndFacts): Part {
  if (error !== undefined) {
    return `Error: ${error.name}: ${cut(error.message, ERROR_CHARS_MAX)}`;
  }
  return note === undefined || note === "" ? undefined : `Note: ${note}`;
}

/** The arguments of a tool call as JSON; `open` is the one that the model fills in. */
function call(action: string, fields: Readonly<Record<string, string>>, open?: string): string {
  const given = JSON.stringify({ action, ...fields });
  return open === undefined ? given : `${given.slice(0, -1)},"${open}":…}`;
}
