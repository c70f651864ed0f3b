import { NonRetryableError } from "../../workflow/errors.ts";
import type { Notice } from "../../workflow/notify.ts";
import { stated } from "./ask.ts";
import type { NodeExecutor } from "./executor.ts";
import { requireWords } from "./interaction.ts";
import { failedOrAborted } from "./outcome.ts";

/** What is longer than this belongs into a file. */
const MESSAGE_CHARS_MAX = 16_000;

/** Says something; the host tells it to the session together with the end of the attempt. */
export const notify: NodeExecutor<"notify"> = async (node, context, tools) => {
  const place = `nodes.${tools.node}.message`;
  try {
    const message = requireWords(await stated(node.message, context), place);
    if (message.length > MESSAGE_CHARS_MAX)
      throw new NonRetryableError(
        `${place}: has ${message.length} characters, more than ${MESSAGE_CHARS_MAX}; write a file and name its path`,
      );
    if (tools.signal.aborted) return failedOrAborted(tools, undefined);
    const output: Notice = { message, kind: node.notice };
    return {
      kind: "ok",
      outputJson: JSON.stringify(output),
      notification: { text: message, final: node.notice === "final" },
    };
  } catch (thrown) {
    return failedOrAborted(tools, thrown);
  }
};
