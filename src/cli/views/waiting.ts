/** What a run waits for: whose turn it is, how far it has come, and what to type. */
import type { JsonValue } from "@bufbuild/protobuf";
import {
  DeliveryState,
  InteractionKind,
  InteractionStatus,
} from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { RunMode } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary, RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { cut, fromNow, localTime, safe, shortJson } from "../../platform/text.ts";
import { shellWord } from "../session-file.ts";
import type { Frame } from "./attempts.ts";
import { valueJson } from "../../client/json-value.ts";
import { answerLines, choiceLines, requestLines } from "./question.ts";
import { msOf } from "./words.ts";

const INDENT = "  ";

/** What a person reads as the kind of a request. */
const KINDS: ReadonlyMap<InteractionKind, string> = new Map([
  [InteractionKind.CHECKPOINT, "question"],
  [InteractionKind.AGENT, "model step"],
  [InteractionKind.REPLY, "model reply"],
  [InteractionKind.HUMAN_DECISION, "decision"],
]);

const AWAITED: ReadonlyMap<InteractionKind, string> = new Map([
  [InteractionKind.AGENT, "a model"],
  [InteractionKind.REPLY, "a model's reply"],
  [InteractionKind.HUMAN_DECISION, "a person's decision"],
]);

export function kindWord(kind: InteractionKind): string {
  return KINDS.get(kind) ?? "request";
}

/** "a model", "a person's decision": what stands after "waits for". */
export function awaited(kind: InteractionKind): string {
  return AWAITED.get(kind) ?? "an answer";
}

/** The command that answers a request; empty where only the model's own words do. */
export function answerCommand({
  kind,
  interactionId,
}: Pick<Interaction, "kind" | "interactionId">): string {
  if (kind === InteractionKind.REPLY) return "";
  if (kind === InteractionKind.HUMAN_DECISION) return `pi-workflows decide ${interactionId}`;
  return kind === InteractionKind.AGENT
    ? `pi-workflows submit ${interactionId} JSON`
    : `pi-workflows answer ${interactionId}`;
}

/** What to add for somebody who took the wrong command. */
export function otherWay(interaction: Interaction): string {
  const way = answerCommand(interaction);
  return way === ""
    ? ": it takes the model's next words in its session"
    : `; its command is: ${way}`;
}

/** The open request of a run, for whoever looks at the run. */
export function waitingLines(view: RunView, frame: Frame): readonly string[] {
  const { interaction } = view;
  if (interaction === undefined) return [];
  const { kind, summary, lastError } = interaction;
  const progress = deliveryWords(interaction, frame.now);
  const command = answerCommand(interaction);
  return [
    "",
    `${frame.style("bold", `Waits for ${awaited(kind)}:`)} ${safe(summary)}${until(interaction, frame.now)}`,
    ...(progress === "" ? [] : [INDENT + progress]),
    ...readingLines(view, frame),
    ...(lastError === "" ? [] : [`${INDENT}the newest result was rejected: ${safe(lastError)}`]),
    ...requestLines(interaction),
    ...choiceLines(interaction),
    ...answerLines(interaction),
    ...(command === "" ? [] : [INDENT + command]),
  ];
}

/** How to look over the shoulder of the Pi that works on a headless run. */
function readingLines(
  { summary, interaction }: RunView,
  { sessionFile }: Frame,
): readonly string[] {
  if (summary?.mode !== RunMode.HEADLESS || interaction?.delivery !== DeliveryState.WORKING)
    return [];
  const command = readCommand(sessionFile?.(summary.runId));
  return command === "" ? [] : [`${INDENT}read along: ${command}`];
}

/** The command that shows a headless run's session; empty where it has none yet. */
export function readCommand(file: string | undefined): string {
  return file === undefined ? "" : `pi --session ${shellWord(file)} --no-extensions`;
}

function until({ deadlineAt, hasDefault }: Interaction, now: number): string {
  const due = msOf(deadlineAt);
  if (due === undefined) return "";
  return ` (${hasDefault ? "the default is taken" : "expires"} ${fromNow(due, now)})`;
}

/** How far the request has come with who is to answer it; empty when nobody was told yet. */
export function deliveryWords(interaction: Interaction, now: number): string {
  const { delivery, heldUntil, kind, status } = interaction;
  if (status === InteractionStatus.VALIDATING) return "a result of it is being checked";
  const session = interaction.sessionId === "" ? "" : `session ${safe(interaction.sessionId)}`;
  switch (delivery) {
    case DeliveryState.HELD:
      return heldWords(msOf(heldUntil), now);
    case DeliveryState.WAITING:
      return session === ""
        ? "waits for a Pi of its own"
        : `waits for its turn in ${session}, or for that session to be opened`;
    case DeliveryState.OFFERED:
    case DeliveryState.DELIVERED:
      return session === "" ? "was handed to a Pi" : `is shown in ${session}`;
    case DeliveryState.WORKING:
      if (session === "") return "a Pi works on it";
      return isForModel(kind) ? `the model works on it in ${session}` : `is shown in ${session}`;
    default:
      return "";
  }
}

function heldWords(heldUntil: number | undefined, now: number): string {
  if (heldUntil === undefined) return "is held back";
  return `is held back until ${localTime(heldUntil)} (${fromNow(heldUntil, now)})`;
}

export function isForModel(kind: InteractionKind): boolean {
  return kind === InteractionKind.AGENT || kind === InteractionKind.REPLY;
}

/** Who shows the run's steps. */
export function modeWords({ mode, originSession }: RunSummary): string {
  if (mode === RunMode.HEADLESS) return "headless: the host starts a Pi for the model's steps";
  return mode === RunMode.SESSION ? `in session ${safe(originSession)}` : "";
}

/** True when nobody can answer any more. A result that is being checked may yet be rejected. */
export function isClosed({ status }: Interaction): boolean {
  return (
    status === InteractionStatus.ACCEPTED ||
    status === InteractionStatus.EXPIRED ||
    status === InteractionStatus.CANCELLED
  );
}

/** How a request that is open no more was closed: what was decided, and by whom. */
export function closedWords(one: Interaction, when: "meanwhile" | "already" = "meanwhile"): string {
  const name = `"${safe(one.summary)}"`;
  if (one.status === InteractionStatus.EXPIRED) return `${name} expired ${when}`;
  if (one.status === InteractionStatus.CANCELLED) return `${name} was withdrawn ${when}`;
  if (one.status !== InteractionStatus.ACCEPTED) return `${name} takes no answer now`;
  const verb = one.kind === InteractionKind.HUMAN_DECISION ? "decided" : "answered";
  return `${name} was ${verb} ${when}: ${answerText(one)}${byWords(one)}`;
}

const ANSWER_CHARS = 200;

/** The label that was chosen with its text, or the value. */
function answerText({ answer, choices }: Interaction): string {
  const json = valueJson(answer);
  const chosen = choices.find(({ id }) => id === memberOf(json, "choice"));
  if (chosen === undefined) return shortJson(json, ANSWER_CHARS);
  const text = chosen.input === undefined ? "" : memberOf(json, chosen.input.name);
  const label = safe(chosen.label);
  return typeof text === "string" && text !== ""
    ? `${label} ("${cut(safe(text), ANSWER_CHARS)}")`
    : label;
}

function memberOf(json: JsonValue, name: string): JsonValue | undefined {
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
  return isObject ? json[name] : undefined;
}

/** How the host names itself where a decision's default answer was taken. */
const POLICY = "policy";

function byWords({ answeredBy, kind }: Interaction): string {
  if (answeredBy === "") return "";
  const isDefault = kind === InteractionKind.HUMAN_DECISION && answeredBy === POLICY;
  return isDefault ? " (the default, as nobody decided in time)" : ` (by ${safe(answeredBy)})`;
}
