/** Which answers a human decision takes: one of its choices, with the text that it asks for. */
import { HostError } from "../errors.ts";
import type { WorkflowProblem } from "../errors.ts";
import type { ChoiceRecord } from "../records-sessions.ts";
import { parseJson } from "./canonical.ts";

export interface Chosen {
  readonly choice: string;
  /** What the choice asks for; empty where it asks for nothing. */
  readonly text: string;
}

/** The answer as it is stored: what the node puts out. */
export function decisionJson(
  choices: readonly ChoiceRecord[],
  { choice, text }: Chosen,
  runId: string,
): string {
  const chosen = choices.find((one) => one.id === choice);
  const problems = problemsOf(choices, chosen, { choice, text });
  if (problems.length > 0) throw invalid(problems, runId);
  const named = chosen?.input === undefined ? {} : { [chosen.input.name]: text };
  return JSON.stringify({ choice, ...named });
}

/** Refuses a default answer that no person could have given. */
export function requireDecision(
  choices: readonly ChoiceRecord[],
  answerJson: string,
  runId: string,
): void {
  const problems = answerProblems(choices, answerJson);
  if (problems.length > 0) throw invalid(problems, runId);
}

/** Whether a person could have given the answer. */
export function isDecision(choices: readonly ChoiceRecord[], answerJson: string): boolean {
  return answerProblems(choices, answerJson).length === 0;
}

function answerProblems(
  choices: readonly ChoiceRecord[],
  answerJson: string,
): readonly WorkflowProblem[] {
  const { choice, ...texts } = recordOf(answerJson);
  if (typeof choice !== "string") return [{ place: "choice", message: "must name a choice" }];
  const chosen = choices.find((one) => one.id === choice);
  const name = chosen?.input?.name;
  const extra = Object.keys(texts).filter((key) => key !== name);
  const text = name === undefined ? "" : texts[name];
  return [
    ...extra.map((place) => ({ place, message: `choice ${choice} does not ask for it` })),
    ...(typeof text === "string"
      ? problemsOf(choices, chosen, { choice, text })
      : [{ place: name ?? "", message: "must be a text" }]),
  ];
}

function problemsOf(
  choices: readonly ChoiceRecord[],
  chosen: ChoiceRecord | undefined,
  { choice, text }: Chosen,
): readonly WorkflowProblem[] {
  if (chosen === undefined) {
    const ids = choices.map((one) => one.id).join(", ");
    return [{ place: "choice", message: `${JSON.stringify(choice)} is none of: ${ids}` }];
  }
  if (chosen.input === undefined) {
    return text === "" ? [] : [{ place: "text", message: `choice ${choice} asks for no text` }];
  }
  const { minLength, maxLength, name } = chosen.input;
  // Characters as people count them, not units of UTF-16.
  const length = Array.from(text).length;
  if (length >= minLength && length <= maxLength) return [];
  const range = `${minLength} to ${maxLength}`;
  return [{ place: name, message: `has ${length} characters, ${range} are wanted` }];
}

/** What is no object has no fields either. */
function recordOf(json: string): Readonly<Record<string, unknown>> {
  const value = parseJson(json, "the default answer");
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return value as Readonly<Record<string, unknown>>;
}

function invalid(problems: readonly WorkflowProblem[], runId: string): HostError {
  const message = problems.map(({ place, message: what }) => `${place} ${what}`).join("; ");
  return new HostError("ANSWER_INVALID", message, { runId, problems });
}
