import { sha256Hex } from "../../platform/ids.ts";
import type { ActionContext, Context } from "../../workflow/context.ts";
import { describeError } from "../../workflow/describe-error.ts";
import { isEffectUnknown } from "../../workflow/errors.ts";
import type { EffectPolicy } from "../../workflow/graph.ts";
import { toJson } from "../../workflow/json.ts";
import type { JsonValue } from "../../workflow/json.ts";
import type { EffectRequest as EffectDeclaration } from "../../workflow/nodes.ts";
import type { EffectGrant, EffectOutcome, NodeOutcome, NodeTools } from "./executor.ts";
import { aborted, failed, outputText, receiptOf } from "./outcome.ts";
import { showUpdate } from "./update.ts";

/** How a node's effect is declared; without a declaration the safe reading holds. */
export function effectOf(
  declared: EffectDeclaration | undefined,
  node: string,
): { readonly policy: EffectPolicy; readonly type: string } {
  return { policy: declared?.policy ?? "manual", type: declared?.type ?? node };
}

/** The stable key of one visit's effect. Authors never build it. */
export function effectKey(run: Context["run"], type: string, node: string): string {
  return `${run.id}:${type}:${node}:${run.visit}`;
}

/** What an action is given in addition to every other node. */
export function actionContext(
  context: Context,
  tools: NodeTools,
  effect: { readonly key: string; readonly type: string },
): ActionContext {
  return Object.freeze({
    ...context,
    effect: Object.freeze({ ...effect }),
    publishUpdate: (update: unknown) => tools.publishUpdate(showUpdate(update)),
  });
}

/** Digest of a request, whatever the order in which its members were written. */
export function fingerprintOf(request: unknown, node: string): string {
  return sha256Hex(canonical(toJson(request, `nodes.${node}.effect.request`)));
}

function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

export function rejectedEffect({ effectId }: EffectGrant, thrown: unknown): EffectOutcome {
  return { effectId, kind: "rejected", detail: inWords(thrown) };
}

export function unknownEffect({ effectId }: EffectGrant, thrown: unknown): EffectOutcome {
  return { effectId, kind: "unknown", detail: inWords(thrown) };
}

/** What a throw means while the effect may have been happening. */
export function thrownWhileActing(
  tools: NodeTools,
  grant: EffectGrant,
  thrown: unknown,
): NodeOutcome {
  const unknown = unknownEffect(grant, tools.signal.aborted ? tools.signal.reason : thrown);
  const outcome = aborted(tools, thrown, unknown);
  if (outcome !== undefined) return outcome;
  if (isEffectUnknown(thrown))
    return { kind: "unknown", error: describeError(thrown), effect: unknown };
  return failed(thrown, rejectedEffect(grant, thrown));
}

/**
 * Asks the outside system about an application with an unknown outcome. Returns
 * `undefined` when it says that the effect did not happen: then it may be applied.
 */
export async function observe(
  declared: EffectDeclaration | undefined,
  context: ActionContext,
  { tools, grant }: { readonly tools: NodeTools; readonly grant: EffectGrant },
): Promise<NodeOutcome | undefined> {
  try {
    const seen = await declared?.observe?.(context);
    if (seen?.applied === true) return applied(tools, grant, seen.output);
    if (seen?.applied === false) return undefined;
    return stillUnknown(
      tools,
      grant,
      new Error("observe could not tell what became of the effect"),
    );
  } catch (thrown) {
    return stillUnknown(tools, grant, thrown);
  }
}

/** A look that failed says nothing about the effect. */
function stillUnknown(tools: NodeTools, grant: EffectGrant, thrown: unknown): NodeOutcome {
  const effect = unknownEffect(grant, thrown);
  const outcome = aborted(tools, thrown, effect);
  return outcome ?? { kind: "unknown", error: describeError(thrown), effect };
}

/** The effect happened; an output that cannot be stored fails the attempt and undoes nothing. */
export function applied(tools: NodeTools, grant: EffectGrant, value: unknown): NodeOutcome {
  const { effectId } = grant;
  try {
    const outputJson = outputText(tools, value);
    const effect: EffectOutcome = { effectId, kind: "applied", receiptJson: receiptOf(outputJson) };
    return { kind: "ok", outputJson, effect };
  } catch (thrown) {
    return failed(thrown, { effectId, kind: "applied", receiptJson: "null" });
  }
}

/** Nothing was done yet, so nothing is unknown. */
export function abortedBeforeActing(tools: NodeTools, grant: EffectGrant): NodeOutcome | undefined {
  return aborted(tools, undefined, {
    effectId: grant.effectId,
    kind: "rejected",
    detail: "the time was over before the effect was begun",
  });
}

function inWords(thrown: unknown): string {
  const { name, message } = describeError(thrown);
  return `${name}: ${message}`;
}
