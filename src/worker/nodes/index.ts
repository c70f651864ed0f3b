import type { Context } from "../../workflow/context.ts";
import type { NodeKind } from "../../workflow/graph.ts";
import type { NodeDefinition } from "../../workflow/nodes.ts";
import { action } from "./action.ts";
import { agent } from "./agent.ts";
import { checkpoint } from "./checkpoint.ts";
import { compute } from "./compute.ts";
import { decision } from "./decision.ts";
import type { NodeExecutor, NodeOutcome, NodeTools } from "./executor.ts";
import { humanDecision } from "./human-decision.ts";
import { notify } from "./notify.ts";
import { shell } from "./shell.ts";
import { wait } from "./wait.ts";

/** One executor per node kind; a kind without one does not compile. */
export const executors: { readonly [Kind in NodeKind]: NodeExecutor<Kind> } = {
  compute,
  action,
  shell,
  agent,
  decision,
  checkpoint,
  human_decision: humanDecision,
  notify,
  wait,
};

/** Executes one attempt of a node of any kind. */
export function execute(
  node: NodeDefinition,
  context: Context,
  tools: NodeTools,
): Promise<NodeOutcome> {
  // A node's kind picks the executor of that kind, which the compiler cannot relate to the row.
  const executor = executors[node.kind] as NodeExecutor<NodeKind>;
  return executor(node, context, tools);
}
