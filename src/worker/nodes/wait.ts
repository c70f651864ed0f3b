import { systemClock } from "../../platform/clock.ts";
import type { Context } from "../../workflow/context.ts";
import { requireDuration, requireInstant } from "../../workflow/duration.ts";
import type { WaitNode } from "../../workflow/nodes.ts";
import type { NodeExecutor } from "./executor.ts";
import { failedOrAborted } from "./outcome.ts";

/** Says when the run goes on; the host waits for it without a process. */
export const wait: NodeExecutor<"wait"> = async (node, context, tools) => {
  try {
    const dueAtMs = await dueAt(node, context, tools.node);
    if (tools.signal.aborted) return failedOrAborted(tools, undefined);
    return { kind: "wait", dueAtMs };
  } catch (thrown) {
    return failedOrAborted(tools, thrown);
  }
};

async function dueAt(node: WaitNode, context: Context, path: string): Promise<number> {
  if (node.until !== undefined)
    return requireInstant(await node.until(context), `nodes.${path}.until`);
  const { forMs } = node;
  const duration = typeof forMs === "function" ? forMs(context) : forMs;
  return systemClock.now() + requireDuration(duration, `nodes.${path}.forMs`);
}
