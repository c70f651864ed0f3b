import type { NodeExecutor } from "./executor.ts";
import { aborted, failed, failedOrAborted, isTimeout, outputText } from "./outcome.ts";

/**
 * Runs pure work. A result that comes after the deadline is too late, also when
 * the author's code did not look at the signal.
 */
export const compute: NodeExecutor<"compute"> = async (node, context, tools) => {
  let value: unknown;
  try {
    value = await node.run(context);
  } catch (thrown) {
    return failedOrAborted(tools, thrown);
  }
  if (isTimeout(tools.signal)) return aborted(tools, undefined) ?? { kind: "stopped" };
  try {
    return { kind: "ok", outputJson: outputText(tools, value) };
  } catch (thrown) {
    return failed(thrown);
  }
};
