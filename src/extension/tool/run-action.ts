/** Carries out one call of the tool. Never throws: what went wrong is an answer, too. */
import { describeFailure } from "../failure.ts";
import { ConsentError } from "../project-consent.ts";
import { UntrustedError } from "../trust.ts";
import { answer, submit, update } from "./answer-actions.ts";
import { ArgumentError } from "./arguments.ts";
import type { Action } from "./arguments.ts";
import type { ToolCall } from "./call.ts";
import { failed } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import { cancel, list, pause, restart, resume, start, status } from "./run-actions.ts";

const TABLE: Readonly<Record<Action, (call: ToolCall) => Promise<Outcome>>> = {
  list,
  start,
  status,
  pause,
  resume,
  cancel,
  restart,
  answer,
  update,
  submit,
};

/** These say in their own words what to do instead. */
const REFUSALS = [ArgumentError, ConsentError, UntrustedError] as const;

export async function runAction(call: ToolCall): Promise<Outcome> {
  const { action } = call.args;
  try {
    return await TABLE[action](call);
  } catch (error) {
    if (REFUSALS.some((kind) => error instanceof kind)) {
      return failed(`${action} refused`, error instanceof Error ? error.message : "");
    }
    const { kind, text } = describeFailure(error, {
      subject: subjectOf(call),
      signal: call.signal,
    });
    return failed(`${action} ${kind}`, text);
  }
}

/** What the call was about: an id where it has one. */
function subjectOf({ args }: ToolCall): string {
  return args.interaction ?? args.run ?? args.workflow ?? args.action;
}
