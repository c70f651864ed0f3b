import type { Context } from "../../workflow/context.ts";
import { toJson, withoutSymbols } from "../../workflow/json.ts";
import type { Stated } from "../../workflow/node-options.ts";
import type { NodeOutcome, NodeTools } from "./executor.ts";
import type { InteractionRequest } from "./interaction.ts";
import { failedOrAborted } from "./outcome.ts";

/** Builds a question once; the run then waits for its answer without a process. */
export async function ask(
  tools: NodeTools,
  build: () => Promise<InteractionRequest>,
): Promise<NodeOutcome> {
  try {
    const request = await build();
    if (tools.signal.aborted) return failedOrAborted(tools, undefined);
    return { kind: "interaction", request };
  } catch (thrown) {
    return failedOrAborted(tools, thrown);
  }
}

/** What the author stated, or what the author's function makes of the run so far. */
export async function stated<Value>(
  given: Stated<unknown, Readonly<Record<string, unknown>>, Value>,
  context: Context,
): Promise<Value> {
  // A value that is itself a function is no value of any field.
  const make = given as (context: Context) => Value | Promise<Value>;
  return typeof given === "function" ? await make(context) : given;
}

/** The JSON text of a schema; libraries mark theirs with symbols, which are left out. */
export function schemaText(schema: unknown, place: string): string {
  return JSON.stringify(toJson(withoutSymbols(schema), place));
}
