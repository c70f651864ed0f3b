/** What makes the definition of a step for a model, or of a notice, wrong. */
import { isAssistantMessage, isStandardSchema } from "./agent.ts";
import {
  allowFunction,
  checkSchema,
  isFunction,
  isWhole,
  report,
  requireText,
} from "./check-fields.ts";
import { choiceProblem, choiceSight } from "./check-human.ts";
import { listedChoices } from "./decision.ts";
import {
  isFields,
  memberPlace,
  nodeNameProblem,
  shown,
  textProblem,
  warnUnknownFields,
} from "./findings.ts";
import type { Fields, Findings } from "./findings.ts";

/** Longer than any model replies; a reply is a value like any other. */
const REPLY_CHARS_LIMIT = 1_000_000;

export function checkAgent(findings: Findings, place: string, fields: Fields): void {
  const { expectedOutput, schema, validate } = fields;
  requireText(findings, place, fields, "prompt");
  checkModelStep(findings, place, fields);
  if (isAssistantMessage(expectedOutput)) {
    const useless = { schema, validate };
    for (const [field, value] of Object.entries(useless))
      if (value !== undefined)
        report(findings, `${place}.${field}`, "has no use with assistantMessage(); remove one");
    const { maxChars } = expectedOutput;
    if (maxChars !== undefined && !isWhole(maxChars, 1, REPLY_CHARS_LIMIT))
      report(
        findings,
        `${place}.expectedOutput.maxChars`,
        `must be a whole number from 1 to ${REPLY_CHARS_LIMIT}, not ${shown(maxChars)}`,
      );
    return;
  }
  checkExpectedOutput(findings, place, fields);
  allowFunction(findings, place, fields, "validate");
  if (!isStandardSchema(schema)) checkSchema(findings, `${place}.schema`, schema);
}

/** A schema may also stand where its description in words would. */
function checkExpectedOutput(findings: Findings, place: string, fields: Fields): void {
  const { expectedOutput: expected, schema } = fields;
  if (expected === undefined || typeof expected === "string") return;
  const where = `${place}.expectedOutput`;
  const isSchema = isStandardSchema(expected) || isFields(expected);
  if (isSchema && schema !== undefined)
    report(findings, where, "must be a text, because there is a schema besides");
  else if (isStandardSchema(expected) || isFunction(expected)) return;
  else if (isFields(expected)) checkSchema(findings, where, expected);
  else
    report(
      findings,
      where,
      `must be a text, a function, a schema or assistantMessage(), not ${shown(expected)}`,
    );
}

export function checkDecision(findings: Findings, place: string, fields: Fields): void {
  requireText(findings, place, fields, "question");
  checkModelStep(findings, place, fields);
  const { choices, field } = fields;
  if (field !== undefined) report(findings, `${place}.field`, fieldProblem(field));
  const listed = listedChoices(choices);
  if (listed === undefined || listed.length === 0) {
    const what = listed === undefined ? `, not ${shown(choices)}` : "";
    report(findings, `${place}.choices`, `must hold the names of the choices${what}`);
    return;
  }
  const seen = new Set<string>();
  for (const { id } of listed) {
    const where = memberPlace(`${place}.choices`, String(id));
    report(findings, where, choiceProblem(id));
    // A model is held to the exact letters, so only the same ones are the same choice.
    if (seen.has(choiceSight(id))) report(findings, where, "is there twice");
    seen.add(choiceSight(id));
  }
}

function fieldProblem(field: unknown): string | undefined {
  if (typeof field !== "string") return `must be a text, not ${shown(field)}`;
  if (field.includes(".")) return 'must not hold ".", which separates the parts of a path';
  return nodeNameProblem(field);
}

const MODEL_FIELDS = ["provider", "model", "args"];

function checkModelStep(findings: Findings, place: string, fields: Fields): void {
  const { allowedTools, model } = fields;
  if (allowedTools !== undefined && !isFunction(allowedTools))
    report(findings, `${place}.allowedTools`, textsProblem(allowedTools));
  if (model === undefined) return;
  if (!isFields(model)) {
    report(findings, `${place}.model`, textProblem(model));
    return;
  }
  warnUnknownFields(findings, `${place}.model`, model, MODEL_FIELDS);
  for (const field of ["provider", "model"])
    if (model[field] !== undefined)
      report(findings, `${place}.model.${field}`, textProblem(model[field]));
  if (model["args"] !== undefined)
    report(findings, `${place}.model.args`, argumentsProblem(model["args"]));
}

function textsProblem(values: unknown): string | undefined {
  if (!Array.isArray(values)) return `must be a list of names, not ${shown(values)}`;
  const problems = (values as readonly unknown[]).map(textProblem);
  return problems.find((problem) => problem !== undefined);
}

function argumentsProblem(values: unknown): string | undefined {
  const texts = Array.isArray(values) && values.every((value) => typeof value === "string");
  return texts ? undefined : `must be a list of texts, not ${shown(values)}`;
}

export function checkNotify(findings: Findings, place: string, fields: Fields): void {
  requireText(findings, place, fields, "message");
  const { notice } = fields;
  if (notice !== "progress" && notice !== "final")
    report(findings, `${place}.kind`, `must be "progress" or "final", not ${shown(notice)}`);
}
