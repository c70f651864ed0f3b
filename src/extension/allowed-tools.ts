/** Keeps a step's own turns to the tools that its author allowed. */

export interface ToolCall {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Without these a model could not answer the step. */
const ALWAYS = new Set(["submit", "update", "status"]);
const OWN_TOOL = "workflow";

/** Why the call is blocked, in words for the model; absent when it may go on. */
export function blockedTool(
  allowed: readonly string[] | undefined,
  { toolName, input }: ToolCall,
): string | undefined {
  if (allowed === undefined || allowed.includes(toolName)) return undefined;
  if (toolName === OWN_TOOL && ALWAYS.has(String(input["action"]))) return undefined;
  const others = allowed.length === 0 ? "" : `${allowed.join(", ")} and `;
  const what =
    toolName === OWN_TOOL ? `the action "${String(input["action"])}" of workflow` : toolName;
  return (
    `This step of a workflow does not allow ${what}. ` +
    `It allows ${others}workflow with submit, update and status.`
  );
}
