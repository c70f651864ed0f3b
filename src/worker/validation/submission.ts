import { DECISION_FIELD, listedChoices } from "../../workflow/decision.ts";
import type { DecisionNode } from "../../workflow/decision.ts";
import { isAssistantMessage, isStandardSchema, statedSchema } from "../../workflow/agent.ts";
import type { AgentNode } from "../../workflow/agent.ts";
import { noChoice } from "../../workflow/check-human.ts";
import type { Context } from "../../workflow/context.ts";
import { describeError } from "../../workflow/describe-error.ts";
import { isFields } from "../../workflow/findings.ts";
import { toJson } from "../../workflow/json.ts";
import type { NodeDefinition } from "../../workflow/nodes.ts";
import type { NodeOutcome } from "../nodes/executor.ts";
import { fitsJsonSchema, fitsStandardSchema, InvalidResult, issuesText } from "./schemas.ts";
import { REJECTION_CHARS_MAX } from "./limits.ts";

/** The question that a submission answers. */
export interface Question {
  readonly node: NodeDefinition;
  readonly path: string;
  readonly context: Context;
}

/**
 * Makes the output of a submitted value, or says why it is none: by the schema,
 * then by the author's `validate`. Whatever they throw refuses the value and
 * never fails the attempt.
 */
export async function validateSubmission(
  { node, path, context }: Question,
  submissionJson: string,
): Promise<NodeOutcome> {
  try {
    const value = await accepted(node, context, submissionJson);
    return { kind: "ok", outputJson: JSON.stringify(toJson(value, `outputs.${path}`)) };
  } catch (thrown) {
    const error = describeError(thrown);
    // A file that changed under the run is no fault of the value.
    if (error.name === "SourceChangedError") return { kind: "failed", error, retryable: false };
    return { kind: "rejected", message: rejectionText(thrown) };
  }
}

async function accepted(
  node: NodeDefinition,
  context: Context,
  submissionJson: string,
): Promise<unknown> {
  if (node.kind === "decision") return chosen(node, JSON.parse(submissionJson));
  if (node.kind === "agent") return await agentResult(node, context, submissionJson);
  throw new Error(`a ${node.kind} node takes no submission`);
}

async function agentResult(
  node: AgentNode,
  context: Context,
  submissionJson: string,
): Promise<unknown> {
  if (isAssistantMessage(node.expectedOutput))
    throw new Error("the output of this step is the reply itself; nothing is submitted");
  const value = await shaped(node, submissionJson);
  const result: unknown = await node.validate?.(value, context);
  return result === undefined ? value : result;
}

async function shaped(node: AgentNode, submissionJson: string): Promise<unknown> {
  const stated = statedSchema(node);
  const value: unknown = JSON.parse(submissionJson);
  if (stated === undefined) return value;
  if (isStandardSchema(stated.schema)) return await fitsStandardSchema(stated.schema, value);
  await fitsJsonSchema(stated.schema, submissionJson);
  return value;
}

/** The choice as it is routed by; a bare name stands for the object that holds it. */
function chosen({ field = DECISION_FIELD, choices }: DecisionNode, value: unknown): unknown {
  const result: unknown = typeof value === "string" ? { [field]: value } : value;
  const ids = (listedChoices(choices) ?? []).map(({ id }) => String(id));
  const given = isFields(result) && Object.hasOwn(result, field) ? result[field] : undefined;
  if (typeof given === "string" && ids.includes(given)) return result;
  throw new InvalidResult(`value.${field} ${noChoice(given, ids)}`);
}

/** What was thrown, for whoever submitted: short, and never empty. */
function rejectionText(thrown: unknown): string {
  const issues = issuesText(thrown);
  const { name, message } = describeError(thrown);
  const text = issues ?? (message.trim() === "" ? name : message);
  return text.length <= REJECTION_CHARS_MAX
    ? text.toWellFormed()
    : `${text.slice(0, REJECTION_CHARS_MAX).toWellFormed()}…`;
}
