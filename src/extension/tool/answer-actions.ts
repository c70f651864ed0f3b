/** What the tool does with the requests of steps: it answers only by their exact ids. */
import { jsonValue } from "../../client/json-value.ts";
import { isRejectedFor } from "../../client/rejection.ts";
import { Outcome as Done } from "../../gen/piworkflows/common/v1/command_pb.ts";
import { Reason } from "../../gen/piworkflows/common/v1/error_pb.ts";
import { safeLines } from "../../platform/text.ts";
import { personText } from "../failure.ts";
import { INTERACTION_KIND } from "../run-words.ts";
import { givenValue, required } from "./arguments.ts";
import { ask, newCommand } from "./call.ts";
import type { ToolCall } from "./call.ts";
import { done, failed } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";

const CLIENT = "pi-tool";

/** Hands in the result of an agent step; the host answers once a worker has checked it. */
export async function submit(call: ToolCall): Promise<Outcome> {
  const interactionId = required(call.args, "interaction");
  const request = {
    command: newCommand(CLIENT),
    interactionId,
    value: jsonValue(givenValue(call.args)),
    sessionId: call.link.sessionId,
  };
  const response = await orByKind(call, interactionId, () =>
    ask(call, ({ interactions }, options) => interactions.submitResult(request, options)),
  );
  if ("headline" in response) return response;
  if (!response.accepted) return rejected(interactionId, response.error);
  const isOld = response.receipt?.outcome === Done.ADOPTED;
  const how = isOld ? "had been accepted" : "is accepted";
  return done(
    `accepted ${interactionId}`,
    `The result of ${interactionId} ${how}. The step is finished and the run goes on by itself; ` +
      "its next step comes as a message. Do not submit this one again.",
  );
}

/** Answers a checkpoint. A human decision is refused, with the way a person answers it. */
export async function answer(call: ToolCall): Promise<Outcome> {
  const interactionId = required(call.args, "interaction");
  const request = {
    command: newCommand(CLIENT),
    interactionId,
    answer: jsonValue(givenValue(call.args)),
    sessionId: call.link.sessionId,
  };
  const response = await orByKind(call, interactionId, () =>
    ask(call, ({ interactions }, options) => interactions.answerCheckpoint(request, options)),
  );
  if ("headline" in response) return response;
  return done(`answered ${interactionId}`, `${interactionId} is answered; the run goes on.`);
}

export async function update(call: ToolCall): Promise<Outcome> {
  const interactionId = required(call.args, "interaction");
  const text = required(call.args, "text");
  const request = { interactionId, text, sessionId: call.link.sessionId };
  await ask(call, ({ interactions }, options) => interactions.publishUpdate(request, options));
  return done("update shown", "The update is shown. The step is still open: submit its result.");
}

function rejected(interactionId: string, error: string): Outcome {
  return failed(
    `rejected ${interactionId}: ${error}`,
    `The result of ${interactionId} was rejected:\n${safeLines(error)}\n` +
      "The request stays open. Correct the result and submit it again with the same interaction id.",
  );
}

/** A request of another kind is answered in another way; say in which. */
async function orByKind<Response>(
  call: ToolCall,
  interactionId: string,
  run: () => Promise<Response>,
): Promise<Response | Outcome> {
  try {
    return await run();
  } catch (error) {
    const isOther =
      isRejectedFor(error, Reason.WRONG_KIND) || isRejectedFor(error, Reason.HUMAN_ONLY);
    if (!isOther) throw error;
    const { interaction } = await ask(call, ({ interactions }, options) =>
      interactions.getInteraction({ interactionId }, options),
    );
    return failed(`refused ${interactionId}`, wayOf(interaction?.kind ?? 0, interactionId));
  }
}

function wayOf(kind: number, interactionId: string): string {
  switch (kind) {
    case INTERACTION_KIND.agent:
      return `${interactionId} asks for the result of a step: use action submit.`;
    case INTERACTION_KIND.reply:
      return `${interactionId} takes your visible reply in the step's own turn as its answer: just reply.`;
    case INTERACTION_KIND.checkpoint:
      return `${interactionId} is a question: use action answer.`;
    default:
      return personText(interactionId);
  }
}
