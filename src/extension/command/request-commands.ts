/** What `/workflow` does with the requests of runs: here a person answers. */
import type { JsonValue } from "@bufbuild/protobuf";
import { answerOf } from "../../client/answer-choices.ts";
import { jsonValue, valueJson } from "../../client/json-value.ts";
import { isRejectedFor, rejectionOf } from "../../client/rejection.ts";
import { Reason } from "../../gen/piworkflows/common/v1/error_pb.ts";
import type { Interaction } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { cut, safe, safeLines, shortJson } from "../../platform/text.ts";
import { askAnswer, askDecision, chooseRun, untilClosed } from "../dialogs.ts";
import { INTERACTION_KIND, kindName } from "../run-words.ts";
import { ask, newCommand } from "../tool/call.ts";
import { CommandError, PERSON } from "./call.ts";
import type { CommandCall } from "./call.ts";
import { knownId } from "./known-id.ts";

const ANSWER_CHARS = 80;
const NAMED_CHARS = 100;

/** Makes a human decision, with what only this session's user has. */
export async function decide(call: CommandCall): Promise<void> {
  const { place, link } = call;
  const interaction = await find(call, INTERACTION_KIND.human_decision);
  if (interaction === undefined) return;
  const { interactionId } = interaction;
  const open = untilClosed(link, interactionId, call.signal);
  try {
    const decided = await askDecision(place, interaction, open.signal);
    if (decided === undefined) {
      place.ui.notify(leftText(call, open.signal, interactionId), "info");
      return;
    }
    const request = { command: newCommand(PERSON), interactionId, ...decided };
    await ask(call, ({ interactions, capability }, options) => {
      if (capability === undefined) throw new CommandError(NOT_ATTACHED);
      return interactions.answerDecision({ ...request, capability }, options);
    });
    const label = interaction.choices.find(({ id }) => id === decided.choice)?.label;
    place.ui.notify(`decided: ${safe(label ?? decided.choice)} ${named(interaction)}`, "info");
  } finally {
    open.stop();
  }
}

/** Answers a checkpoint, with what was typed or by asking. */
export async function answer(call: CommandCall): Promise<void> {
  const { place, link } = call;
  const { target, text: typed } = spokenTo(call);
  const interaction = await find(call, INTERACTION_KIND.checkpoint, target);
  if (interaction === undefined) return;
  const { interactionId } = interaction;
  if (typed !== "") {
    const value = answerOf(typed, valueJson(interaction.schema));
    await send(call, interactionId, value);
    place.ui.notify(answeredText(interaction, value), "info");
    return;
  }
  const open = untilClosed(link, interactionId, call.signal);
  try {
    const taken = await askUntilTaken(call, interaction, open.signal);
    const text =
      taken === undefined
        ? leftText(call, open.signal, interactionId)
        : answeredText(interaction, taken);
    place.ui.notify(text, "info");
  } finally {
    open.stop();
  }
}

const NOT_ATTACHED =
  "This session is not attached to the host now, so it cannot decide. Try again, or type " +
  "/workflow here if another Pi has taken it over.";

interface Spoken {
  readonly target: string;
  readonly text: string;
}

/** What begins with no id is the answer itself. */
function spokenTo({ parsed, link }: CommandCall): Spoken {
  const { target, rest, whole } = parsed;
  const isId = /^(?:int|run)_/.test(target) || knownId(link, target) !== target;
  return isId ? { target, text: rest } : { target: "", text: whole };
}

function answeredText(interaction: Interaction, value: JsonValue): string {
  const told =
    typeof value === "string" ? cut(safe(value), ANSWER_CHARS) : shortJson(value, ANSWER_CHARS);
  return `answered: ${told} ${named(interaction)}`;
}

/** The request as the user knows it: notices stand far from what they are about. */
function named({ runTitle, summary, interactionId }: Interaction): string {
  const words = [runTitle, summary].filter((word) => word !== "").map((word) => safe(word));
  return `(${cut(words.length === 0 ? interactionId : words.join(" · "), NAMED_CHARS)})`;
}

/** A wrong answer is told and asked for again; what was taken is returned. */
async function askUntilTaken(
  call: CommandCall,
  interaction: Interaction,
  signal: AbortSignal,
): Promise<JsonValue | undefined> {
  for (;;) {
    const value = await askAnswer(call.place, interaction, signal);
    if (value === undefined) return undefined;
    try {
      await send(call, interaction.interactionId, value);
      return value;
    } catch (error) {
      if (!isRejectedFor(error, Reason.ANSWER_INVALID)) throw error;
      call.place.ui.notify(safeLines(rejectionOf(error)?.message ?? ""), "warning");
    }
  }
}

/** The user names no session: a person may answer from any of them. */
async function send(call: CommandCall, interactionId: string, value: JsonValue): Promise<void> {
  const request = { command: newCommand(PERSON), interactionId, answer: jsonValue(value) };
  await ask(call, ({ interactions }, options) => interactions.answerCheckpoint(request, options));
}

/** The request that was named or is the only one of its kind, whole; absent when none was chosen. */
async function find(
  call: CommandCall,
  kind: number,
  typed = call.parsed.target,
): Promise<Interaction | undefined> {
  const interactionId = await idOf(call, kind, knownId(call.link, typed));
  if (interactionId === undefined) return undefined;
  const { interaction } = await ask(call, ({ interactions }, options) =>
    interactions.getInteraction({ interactionId }, options),
  );
  if (interaction === undefined) throw new CommandError(`There is no request ${interactionId}.`);
  if (interaction.kind !== kind) throw new CommandError(otherWay(interaction));
  return interaction;
}

async function idOf(call: CommandCall, kind: number, target: string): Promise<string | undefined> {
  const { link, place, signal } = call;
  if (target.startsWith("run_")) return await ofRun(call, target);
  if (target !== "") return target;
  const waiting = (link.picture?.runs ?? []).flatMap(({ summary }) =>
    summary?.interactionKind === kind ? [summary] : [],
  );
  const isDecision = kind === INTERACTION_KIND.human_decision;
  if (waiting.length === 0) {
    const what = isDecision ? "a decision" : "an answer";
    throw new CommandError(`No run of this session waits for ${what}.`);
  }
  const verb = isDecision ? "decide" : "answer";
  return (await chooseRun(place, waiting, { verb, signal }))?.interactionId;
}

async function ofRun(call: CommandCall, runId: string): Promise<string> {
  const { run } = await ask(call, ({ runs }, options) => runs.getRun({ runId }, options));
  const interactionId = run?.summary?.interactionId ?? "";
  if (interactionId === "") throw new CommandError(`${runId} waits for nobody.`);
  return interactionId;
}

function otherWay({ kind, interactionId }: Interaction): string {
  if (kind === INTERACTION_KIND.checkpoint) {
    return `${interactionId} is a question: /workflow answer ${interactionId}`;
  }
  if (kind === INTERACTION_KIND.human_decision) {
    return `${interactionId} is a decision: /workflow decide ${interactionId}`;
  }
  return `${interactionId} is for the model (${kindName(kind)}): it answers in its turn.`;
}

function leftText({ signal }: CommandCall, open: AbortSignal, interactionId: string): string {
  const isAnswered = open.aborted && !signal.aborted;
  return isAnswered
    ? `${interactionId} is not open here any more: it was answered somewhere else, or its run stopped`
    : `nothing was answered; ${interactionId} is still open`;
}
