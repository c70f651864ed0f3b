import type { ActionContext } from "../../workflow/context.ts";
import type { ActionNode } from "../../workflow/nodes.ts";
import {
  abortedBeforeActing,
  actionContext,
  applied,
  effectOf,
  fingerprintOf,
  observe,
  thrownWhileActing,
} from "./effect.ts";
import type { EffectGrant, NodeExecutor, NodeOutcome, NodeTools } from "./executor.ts";
import { failed, failedOrAborted } from "./outcome.ts";

/** Without a stated request, every application of a visit counts as the same one. */
const SAME_REQUEST = "action";

/**
 * Runs the author's function under a managed effect: nothing is done outside
 * before the host has recorded that it may be.
 */
export const action: NodeExecutor<"action"> = async (node, context, tools) => {
  const { effect: declared } = node;
  let fingerprint: string;
  try {
    const request = declared?.request === undefined ? SAME_REQUEST : declared.request(context);
    fingerprint = fingerprintOf(await request, tools.node);
  } catch (thrown) {
    return failedOrAborted(tools, thrown);
  }
  const { policy, type } = effectOf(declared, tools.node);
  const observable = declared?.observe !== undefined;
  const grant = await tools.beginEffect({ policy, type, fingerprint, observable });
  if (grant.kind === "blocked") return { kind: "stopped" };
  if (grant.kind === "stored") return stored(tools, grant);
  const acting = actionContext(context, tools, { key: grant.key, type });
  const seen =
    grant.kind === "observe" ? await observe(declared, acting, { tools, grant }) : undefined;
  return seen ?? abortedBeforeActing(tools, grant) ?? (await act(node, acting, { tools, grant }));
};

/** A function that returns has done its effect, however late it comes. */
async function act(
  node: ActionNode,
  context: ActionContext,
  { tools, grant }: { readonly tools: NodeTools; readonly grant: EffectGrant },
): Promise<NodeOutcome> {
  let value: unknown;
  try {
    value = await node.run(context);
  } catch (thrown) {
    return thrownWhileActing(tools, grant, thrown);
  }
  tools.note("effect.performed");
  return applied(tools, grant, value);
}

/** The receipt of an action is its output, unless that was too large to be kept twice. */
function stored(tools: NodeTools, grant: EffectGrant): NodeOutcome {
  const { effectId, receiptJson = "null" } = grant;
  const effect = { effectId, kind: "applied", receiptJson } as const;
  const receipt: unknown = JSON.parse(receiptJson);
  if (!isDigest(receipt)) return { kind: "ok", outputJson: receiptJson, effect };
  const message = `node ${tools.node} was applied before, and its output is not kept`;
  return failed(
    Object.assign(new Error(message), { name: "OutputLostError", retryable: false }),
    effect,
  );
}

function isDigest(receipt: unknown): boolean {
  if (typeof receipt !== "object" || receipt === null) return false;
  return Object.keys(receipt).join() === "digest,bytes";
}
