import { describeError } from "../../workflow/describe-error.ts";
import type { ShellOptions } from "../../workflow/nodes.ts";
import type { CommandHooks } from "./run-command.ts";
import type { NodeTools } from "./executor.ts";
import { showUpdate } from "./update.ts";

/** A line without end must not grow without end. */
const LINE_MAX = 16 * 1024;

/** Publishes lines of stdout while they arrive: of one chunk the last that says something. */
export function lineUpdates(
  updates: ShellOptions<unknown, unknown, unknown>["updates"],
  tools: NodeTools,
): Pick<CommandHooks, "onStdout"> {
  if (updates === undefined || updates === false) return {};
  const updateOf = updates === true ? (line: string): unknown => line : updates;
  let rest = "";
  return {
    onStdout(text) {
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() ?? "").slice(0, LINE_MAX);
      let newest: unknown;
      for (const line of lines) newest = oneUpdate(updateOf, line) ?? newest;
      if (newest !== undefined) tools.publishUpdate(showUpdate(newest));
    },
  };
}

/** Updates tell of the work; a fault in telling must not end it. */
function oneUpdate(updateOf: (line: string) => unknown, line: string): unknown {
  try {
    return updateOf(line);
  } catch (thrown) {
    return `[updates: ${describeError(thrown).message}]`;
  }
}
