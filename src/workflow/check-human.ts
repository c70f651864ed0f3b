/** What makes a human decision wrong, at its definition and where its default is built. */
import { isFunction, isWhole, report, requireFunction } from "./check-fields.ts";
import { durationProblem } from "./duration.ts";
import {
  isFields,
  memberPlace,
  nearest,
  nodeNameProblem,
  shown,
  textProblem,
  warnUnknownFields,
} from "./findings.ts";
import type { Fields, Findings } from "./findings.ts";
import { HUMAN_FIELD, TEXT_CHARS_MAX_DEFAULT } from "./human-decision.ts";

/** What a person can tell apart. */
const CHOICES_MAX = 100;
/** A text is typed by a person. */
const TEXT_CHARS_LIMIT = 100_000;

export function checkHumanDecision(findings: Findings, place: string, fields: Fields): void {
  const { audience, choices, onTimeout, retry } = fields;
  report(findings, `${place}.audience`, textProblem(audience));
  requireFunction(findings, place, fields, "request");
  if (retry !== undefined)
    report(findings, `${place}.retry`, "is refused on a human decision: a person is asked once");
  checkHumanChoices(findings, `${place}.choices`, choices);
  if (onTimeout !== undefined) checkOnTimeout(findings, `${place}.onTimeout`, onTimeout, choices);
}

function checkHumanChoices(findings: Findings, place: string, choices: unknown): void {
  if (!isFields(choices)) {
    report(findings, place, `must be made by defineHumanChoices(), not ${shown(choices)}`);
    return;
  }
  const entries = Object.entries(choices);
  if (entries.length === 0) report(findings, place, "must hold a choice");
  if (entries.length > CHOICES_MAX)
    report(findings, place, `must hold at most ${CHOICES_MAX} choices, not ${entries.length}`);
  const bySight = new Map<string, string>();
  for (const [id, stated] of entries) {
    const where = memberPlace(place, id);
    report(findings, where, choiceProblem(id));
    // A person types a name, and reads two that differ in their case as one.
    const sight = choiceSight(id).toLowerCase();
    const other = bySight.get(sight);
    if (other !== undefined) report(findings, where, `cannot be told from ${shown(other)}`);
    bySight.set(sight, id);
    checkChoice(findings, where, stated);
  }
}

function checkChoice(findings: Findings, place: string, stated: unknown): void {
  if (!isFields(stated)) {
    report(findings, place, `must be made by choice(), not ${shown(stated)}`);
    return;
  }
  warnUnknownFields(findings, place, stated, ["label", "input"]);
  const { label, input } = stated;
  report(findings, `${place}.label`, textProblem(label));
  if (input === undefined) return;
  if (isFields(input)) checkTextInput(findings, `${place}.input`, input);
  else report(findings, `${place}.input`, `must be made by textInput(), not ${shown(input)}`);
}

function checkTextInput(findings: Findings, place: string, input: Fields): void {
  warnUnknownFields(findings, place, input, ["name", "prompt", "minLength", "maxLength"]);
  const { name, prompt, minLength = 0, maxLength = TEXT_CHARS_MAX_DEFAULT } = input;
  report(findings, `${place}.name`, typeof name === "string" ? nameProblem(name) : missing(name));
  report(findings, `${place}.prompt`, textProblem(prompt));
  const range = `must be a whole number from 0 to ${TEXT_CHARS_LIMIT}`;
  for (const [field, value] of Object.entries({ minLength, maxLength }))
    if (!isWhole(value, 0, TEXT_CHARS_LIMIT))
      report(findings, `${place}.${field}`, `${range}, not ${shown(value)}`);
  if (Number(maxLength) < Number(minLength))
    report(findings, `${place}.maxLength`, `must not be less than minLength (${shown(minLength)})`);
}

function nameProblem(name: string): string | undefined {
  if (name === HUMAN_FIELD) return `must not be ${shown(name)}, which holds the choice itself`;
  return nodeNameProblem(name);
}

function missing(name: unknown): string {
  return `must be a text, not ${shown(name)}`;
}

/** Says why a choice may not have this name, or `undefined`. */
export function choiceProblem(id: unknown): string | undefined {
  if (typeof id !== "string") return `must be a text, not ${shown(id)}`;
  if (id.trim() !== id) return "must not begin or end with a space";
  return RESERVED.has(id) ? "is a reserved name" : textProblem(id);
}

/** Members that every JavaScript object has, or treats specially. */
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Two names of one sight would be two choices that nobody can tell apart. */
export function choiceSight(id: unknown): string {
  return String(id).normalize("NFC");
}

function checkOnTimeout(
  findings: Findings,
  place: string,
  onTimeout: unknown,
  choices: unknown,
): void {
  if (!isFields(onTimeout)) {
    report(findings, place, `must be { afterMs, response }, not ${shown(onTimeout)}`);
    return;
  }
  warnUnknownFields(findings, place, onTimeout, ["afterMs", "response"]);
  const { afterMs, response } = onTimeout;
  if (!isFunction(afterMs)) report(findings, `${place}.afterMs`, durationProblem(afterMs));
  if (isFunction(response) || !isFields(choices)) return;
  const answer = humanAnswer(choices, response);
  if ("problem" in answer) report(findings, `${place}.response`, answer.problem);
}

/** The answer as it is stored, or what is wrong with it. */
export function humanAnswer(
  choices: Fields,
  response: unknown,
): { readonly answer: Fields } | { readonly problem: string } {
  const given: unknown = typeof response === "string" ? { [HUMAN_FIELD]: response } : response;
  if (!isFields(given)) return { problem: `must be { choice, … }, not ${shown(response)}` };
  const id = given[HUMAN_FIELD];
  if (typeof id !== "string" || !Object.hasOwn(choices, id))
    return { problem: noChoice(id, Object.keys(choices)) };
  const chosen = choices[id];
  const input = isFields(chosen) ? chosen["input"] : undefined;
  if (!isFields(input)) return answerOf(given, {});
  const name = String(input["name"]);
  const text = given[name];
  const problem = inputProblem(input, text);
  if (problem !== undefined) return { problem: `${shown(id)} asks for ${name}, which ${problem}` };
  return answerOf(given, { [name]: text });
}

function answerOf(
  given: Fields,
  text: Fields,
): { readonly answer: Fields } | { readonly problem: string } {
  const answer = { [HUMAN_FIELD]: given[HUMAN_FIELD], ...text };
  const extra = Object.keys(given).find((field) => !Object.hasOwn(answer, field));
  if (extra === undefined) return { answer };
  return { problem: `holds ${shown(extra)}, which the choice does not ask for` };
}

function inputProblem(input: Fields, text: unknown): string | undefined {
  const { minLength = 0, maxLength = TEXT_CHARS_MAX_DEFAULT } = input;
  if (typeof text !== "string") return `must be a text, not ${shown(text)}`;
  const length = Array.from(text).length;
  if (length < Number(minLength)) return `must have at least ${shown(minLength)} characters`;
  return length > Number(maxLength)
    ? `must have at most ${shown(maxLength)} characters`
    : undefined;
}

/** Names what was given, what there is, and what was probably meant. */
export function noChoice(given: unknown, known: readonly string[]): string {
  const list = known.map((id) => JSON.stringify(id)).join(", ");
  const near = typeof given === "string" ? nearest(given, known) : undefined;
  const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
  return `must be one of ${list}, not ${shown(given)}${hint}`;
}
