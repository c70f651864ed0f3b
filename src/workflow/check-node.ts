import { durationProblem } from "./duration.ts";
import { describeError } from "./describe-error.ts";
import {
  isFields,
  memberPlace,
  nodeNameProblem,
  shown,
  textProblem,
  warnUnknownFields,
} from "./findings.ts";
import type { Fields, Findings } from "./findings.ts";
import type { EffectPolicy, GraphEffect, GraphNode, GraphRetry, NodeKind } from "./graph.ts";
import { toJson } from "./json.ts";
import { isEffectRequest, isNode } from "./nodes.ts";

/** Checks one node and returns its compiled form; findings tell what is wrong with it. */
export function checkNode(findings: Findings, name: string, node: unknown): GraphNode | undefined {
  const place = memberPlace("nodes", name);
  report(findings, place, nodeNameProblem(name));
  if (!isNode(node)) {
    const builders = Object.keys(OWN_FIELDS).map((kind) => `${kind}()`);
    report(findings, place, `must be made by one of ${builders.join(", ")}, not ${shown(node)}`);
    return undefined;
  }
  const { kind } = node;
  if (!Object.hasOwn(OWN_FIELDS, kind)) {
    report(findings, place, `is of kind ${shown(kind)}, which this version does not know`);
    return undefined;
  }
  const fields: Fields = { ...node };
  warnUnknownFields(findings, place, fields, [...OWN_FIELDS[kind], ...COMMON_FIELDS]);
  checkCommon(findings, place, fields);
  CHECKS[kind](findings, place, fields);
  return compileNode(findings, { name, place, kind, fields });
}

const COMMON_FIELDS = ["kind", "timeoutMs", "statusDetail", "retry"];

const OWN_FIELDS: Readonly<Record<NodeKind, readonly string[]>> = {
  compute: ["run"],
  action: ["effect", "run", "exec"],
  shell: ["effect", "exec", "parse", "updates"],
  checkpoint: ["summary", "run", "schema"],
  wait: ["forMs", "until"],
};

type Check = (findings: Findings, place: string, fields: Fields) => void;

const CHECKS: Readonly<Record<NodeKind, Check>> = {
  compute: (findings, place, fields) => requireFunction(findings, place, fields, "run"),
  action: (findings, place, fields) => requireFunction(findings, place, fields, "run"),
  shell: (findings, place, fields) => {
    requireFunction(findings, place, fields, "exec");
    allowFunction(findings, place, fields, "parse");
    const { updates } = fields;
    if (updates === undefined || typeof updates === "boolean" || isFunction(updates)) return;
    report(
      findings,
      `${place}.updates`,
      `must be true, false or a function, not ${shown(updates)}`,
    );
  },
  checkpoint: checkCheckpoint,
  wait: checkWait,
};

function checkCheckpoint(findings: Findings, place: string, fields: Fields): void {
  const { summary, schema } = fields;
  if (!isFunction(summary) && (typeof summary !== "string" || summary === ""))
    report(findings, `${place}.summary`, `must be a text or a function, not ${shown(summary)}`);
  allowFunction(findings, place, fields, "run");
  if (schema === undefined || typeof schema === "boolean") return;
  if (!isFields(schema)) {
    report(findings, `${place}.schema`, `must be a JSON Schema, not ${shown(schema)}`);
    return;
  }
  try {
    toJson(schema, "");
  } catch (error) {
    const { message } = describeError(error);
    report(findings, `${place}.schema`, `must be a JSON Schema in plain JSON: ${message}`);
  }
}

function checkWait(findings: Findings, place: string, fields: Fields): void {
  const { forMs, until } = fields;
  if ((forMs === undefined) === (until === undefined))
    report(findings, place, "must have exactly one of forMs and until");
  if (forMs !== undefined && !isFunction(forMs))
    report(findings, `${place}.forMs`, durationProblem(forMs));
  allowFunction(findings, place, fields, "until");
}

function checkCommon(findings: Findings, place: string, fields: Fields): void {
  const { timeoutMs, statusDetail } = fields;
  if (timeoutMs !== undefined && timeoutMs !== null && !isFunction(timeoutMs))
    report(findings, `${place}.timeoutMs`, durationProblem(timeoutMs));
  if (statusDetail !== undefined)
    report(findings, `${place}.statusDetail`, textProblem(statusDetail));
}

interface CheckedNode {
  readonly name: string;
  readonly place: string;
  readonly kind: NodeKind;
  readonly fields: Fields;
}

function compileNode(findings: Findings, node: CheckedNode): GraphNode {
  const { statusDetail } = node.fields;
  const effect = compileEffect(findings, node);
  const retry = compileRetry(findings, node, effect?.policy);
  return {
    path: node.name,
    kind: node.kind,
    ...(typeof statusDetail === "string" ? { statusDetail } : {}),
    ...(effect === undefined ? {} : { effect }),
    ...(retry === undefined ? {} : { retry }),
  };
}

/** Without a statement the safe reading holds: the outside world may not recognise a repeat. */
function compileEffect(
  findings: Findings,
  { name, place, kind, fields }: CheckedNode,
): GraphEffect | undefined {
  if (kind !== "action" && kind !== "shell") return undefined;
  const { effect } = fields;
  const assumed: GraphEffect = { policy: "manual", type: name };
  if (effect === undefined) {
    const message = `no effect is stated, so it counts as manualEffect(${JSON.stringify(name)})`;
    findings.warnings.push({ place: `${place}.effect`, message });
    return assumed;
  }
  if (!isEffectRequest(effect)) {
    report(findings, `${place}.effect`, "must be made by idempotentEffect() or manualEffect()");
    return assumed;
  }
  report(findings, `${place}.effect.type`, textProblem(effect.type));
  const known = effect.policy === "manual" ? ["request"] : ["request", "observe"];
  warnUnknownFields(findings, `${place}.effect`, effect, ["policy", "type", ...known]);
  for (const field of known) allowFunction(findings, `${place}.effect`, { ...effect }, field);
  return { policy: effect.policy, type: effect.type };
}

const BACKOFF_MS = 1_000;
const FACTOR = 2;
const MAX_BACKOFF_MS = 60_000;
const MAX_ATTEMPTS = 1_000;
const RETRY_FIELDS = ["maxAttempts", "backoffMs", "factor", "maxBackoffMs"];

function compileRetry(
  findings: Findings,
  { place: nodePlace, fields }: CheckedNode,
  policy: EffectPolicy | undefined,
): GraphRetry | undefined {
  const place = `${nodePlace}.retry`;
  const { retry } = fields;
  if (retry === undefined) return undefined;
  if (policy === "manual")
    report(findings, place, "is refused on a manual effect, which only a person may repeat");
  if (!isFields(retry)) {
    report(findings, place, `must be { maxAttempts, … }, not ${shown(retry)}`);
    return undefined;
  }
  warnUnknownFields(findings, place, retry, RETRY_FIELDS);
  const numbers = {
    maxAttempts: retry["maxAttempts"],
    backoffMs: retry["backoffMs"] ?? BACKOFF_MS,
    factor: retry["factor"] ?? FACTOR,
    maxBackoffMs:
      retry["maxBackoffMs"] ?? Math.max(MAX_BACKOFF_MS, Number(retry["backoffMs"]) || 0),
  };
  const before = findings.problems.length;
  checkRetry(findings, place, numbers);
  // checkRetry has just reported every member that is no number
  return findings.problems.length === before ? (numbers as GraphRetry) : undefined;
}

function checkRetry(
  findings: Findings,
  place: string,
  retry: Record<keyof GraphRetry, unknown>,
): void {
  const { maxAttempts, backoffMs, factor, maxBackoffMs } = retry;
  if (!isWhole(maxAttempts, 1, MAX_ATTEMPTS))
    report(
      findings,
      `${place}.maxAttempts`,
      `must be a whole number from 1 to ${MAX_ATTEMPTS}, not ${shown(maxAttempts)}`,
    );
  if (backoffMs !== 0) report(findings, `${place}.backoffMs`, durationProblem(backoffMs));
  if (maxBackoffMs !== 0) report(findings, `${place}.maxBackoffMs`, durationProblem(maxBackoffMs));
  if (typeof factor !== "number" || !Number.isFinite(factor) || factor < 1)
    report(findings, `${place}.factor`, `must be a number from 1, not ${shown(factor)}`);
  if (Number(maxBackoffMs) < Number(backoffMs))
    report(
      findings,
      `${place}.maxBackoffMs`,
      `must not be less than backoffMs (${shown(backoffMs)})`,
    );
}

export function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

function requireFunction(findings: Findings, place: string, fields: Fields, field: string): void {
  const value = fields[field];
  if (!isFunction(value))
    report(findings, `${place}.${field}`, `must be a function, not ${shown(value)}`);
}

function allowFunction(findings: Findings, place: string, fields: Fields, field: string): void {
  if (fields[field] !== undefined) requireFunction(findings, place, fields, field);
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function report(findings: Findings, place: string, message: string | undefined): void {
  if (message !== undefined) findings.problems.push({ place, message });
}
