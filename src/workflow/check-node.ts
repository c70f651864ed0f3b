import {
  allowFunction,
  checkSchema,
  isFunction,
  isWhole,
  report,
  requireFunction,
} from "./check-fields.ts";
import { checkHumanDecision } from "./check-human.ts";
import { checkAgent, checkDecision, checkNotify } from "./check-steps.ts";
import { durationProblem } from "./duration.ts";
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
import { isEffectRequest, isNode } from "./nodes.ts";

/** Checks one node and returns its compiled form; findings tell what is wrong with it. */
export function checkNode(findings: Findings, name: string, node: unknown): GraphNode | undefined {
  const place = memberPlace("nodes", name);
  report(findings, place, nodeNameProblem(name));
  if (!isNode(node)) {
    const builders = Object.values(BUILDERS).map((builder) => `${builder}()`);
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
  agent: ["prompt", "expectedOutput", "schema", "validate", "allowedTools", "model"],
  decision: ["question", "choices", "field", "allowedTools", "model"],
  checkpoint: ["summary", "run", "schema"],
  human_decision: ["audience", "choices", "request", "onTimeout"],
  notify: ["message", "notice"],
  wait: ["forMs", "until"],
};

/** What authors call to make a node of a kind. */
const BUILDERS: Readonly<Record<NodeKind, string>> = {
  compute: "compute",
  action: "action",
  shell: "shell",
  agent: "agent",
  decision: "decision",
  checkpoint: "checkpoint",
  human_decision: "humanDecision",
  notify: "notify",
  wait: "wait",
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
  agent: checkAgent,
  decision: checkDecision,
  checkpoint: checkCheckpoint,
  human_decision: checkHumanDecision,
  notify: checkNotify,
  wait: checkWait,
};

function checkCheckpoint(findings: Findings, place: string, fields: Fields): void {
  const { summary, schema } = fields;
  if (!isFunction(summary) && (typeof summary !== "string" || summary === ""))
    report(findings, `${place}.summary`, `must be a text or a function, not ${shown(summary)}`);
  allowFunction(findings, place, fields, "run");
  checkSchema(findings, `${place}.schema`, schema);
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
  { place: nodePlace, kind, fields }: CheckedNode,
  policy: EffectPolicy | undefined,
): GraphRetry | undefined {
  const place = `${nodePlace}.retry`;
  const { retry } = fields;
  // A human decision has said already that it takes none.
  if (retry === undefined || kind === "human_decision") return undefined;
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
