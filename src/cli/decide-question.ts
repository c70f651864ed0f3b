/** Putting a human decision to the person at the terminal. */
import { readFileSync } from "node:fs";
import type { HostClient } from "../client/host-client.ts";
import { isRejectedFor, rejectionOf } from "../client/rejection.ts";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { HumanChoice, Interaction } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import type { AnswerDecisionResponse } from "../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RefusedError } from "./arguments.ts";
import type { Cli } from "./command.ts";
import { newCommand } from "./commands/shared.ts";
import type { CommandFields } from "./commands/shared.ts";
import { interactionOf } from "./find-interaction.ts";
import { ask } from "./prompt.ts";
import { fromNow, localTime, plural, safe, safeLines } from "../platform/text.ts";
import { choiceText, limitsOf, requestLines } from "./views/question.ts";
import { closedWords, isClosed } from "./views/waiting.ts";
import { msOf } from "./views/words.ts";

export interface Deciding {
  readonly interactionId: string;
  /** Idempotency key; one of its own for each answer when absent. */
  readonly key?: string | undefined;
}

/** `left`: the person did not want to decide. `closed`: somebody or a policy did first; `how` says it. */
export type Decided =
  | { readonly end: "left" }
  | { readonly end: "closed"; readonly how: string }
  | { readonly end: "decided"; readonly response: AnswerDecisionResponse };

/** Shows the whole subject, then asks until the host takes the decision. */
export async function decideAtTerminal(
  cli: Cli,
  client: HostClient,
  deciding: Deciding,
): Promise<Decided> {
  const { interactionId, key } = deciding;
  const interaction = await interactionOf(client, interactionId);
  if (isClosed(interaction)) return { end: "closed", how: closedWords(interaction, "already") };
  cli.out.lines(subjectLines(cli, interaction));
  for (;;) {
    const chosen = await choose(interaction.choices);
    if (chosen === undefined) return { end: "left" };
    if (chosen === "unknown") {
      cli.out.note(`type a number from 1 to ${interaction.choices.length}`);
      continue;
    }
    const text = await askText(cli, chosen);
    if (text === undefined) return { end: "left" };
    const response = await decide(cli, client, {
      command: newCommand(key),
      interactionId: interaction.interactionId,
      choice: chosen.id,
      text,
      capability: personKey(cli),
    });
    if (response === "closed") {
      return { end: "closed", how: closedWords(await interactionOf(client, interactionId)) };
    }
    if (response !== "invalid") return { end: "decided", response };
  }
}

interface Decision {
  readonly command: CommandFields;
  readonly interactionId: string;
  readonly choice: string;
  readonly text: string;
  readonly capability: string;
}

/** A refused answer has used up no key, and is asked for again. */
async function decide(
  cli: Cli,
  client: HostClient,
  decision: Decision,
): Promise<AnswerDecisionResponse | "closed" | "invalid"> {
  try {
    return await client.call(({ interactions }) => interactions.answerDecision(decision));
  } catch (error) {
    if (isRejectedFor(error, Reason.INTERACTION_CLOSED)) return "closed";
    if (!isRejectedFor(error, Reason.ANSWER_INVALID)) throw error;
    cli.out.note(safeLines(rejectionOf(error)?.message ?? ""));
    return "invalid";
  }
}

function subjectLines({ out, clock }: Cli, interaction: Interaction): readonly string[] {
  const { choices, audience, runTitle, summary } = interaction;
  const due = msOf(interaction.deadlineAt);
  const then = interaction.hasDefault ? "the default is taken" : "the request expires";
  return [
    "",
    out.style("bold", safeLines(summary)),
    `run: ${safe(runTitle)}${audience === "" ? "" : `   for: ${safe(audience)}`}`,
    ...(due === undefined ? [] : [`${then} ${fromNow(due, clock.now())} (${localTime(due)})`]),
    "",
    ...requestLines(interaction),
    "",
    ...choices.map((choice, index) => `  ${index + 1}  ${choiceText(choice)}`),
    "(type a number; Ctrl-D leaves the decision open)",
  ];
}

async function choose(
  choices: readonly HumanChoice[],
): Promise<HumanChoice | "unknown" | undefined> {
  const typed = await ask("> ");
  if (typed === undefined) return undefined;
  const word = typed.trim();
  return choices[Number(word) - 1] ?? choices.find(({ id }) => id === word) ?? "unknown";
}

/** The text that the choice asks for, asked again until it fits; empty where none is asked for. */
async function askText({ out }: Cli, { input }: HumanChoice): Promise<string | undefined> {
  if (input === undefined) return "";
  const { prompt, minLength, maxLength } = input;
  out.line(`${safeLines(prompt)} (${limitsOf(input)})`);
  for (;;) {
    const typed = await ask("> ");
    if (typed === undefined) return undefined;
    // As people count them, and as the host does.
    const length = Array.from(typed).length;
    const isLong = maxLength > 0 && length > maxLength;
    if (length >= minLength && !isLong) return typed;
    out.note(
      `the text is too ${isLong ? "long" : "short"}: it has ${plural(length, "character")}, ${limitsOf(input)} are wanted`,
    );
  }
}

/** What the running host left for terminals; read anew, because each host makes its own. */
function personKey(cli: Cli): string {
  const file = cli.paths().personKey;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const { message } = error as Error;
    throw new RefusedError(
      `the key that lets a person decide cannot be read (${message}); ` +
        "pi-workflows host restart makes a new one",
    );
  }
}
