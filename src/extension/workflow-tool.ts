/** The model's tool `workflow`. What it does is loaded with its first call. */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { systemClock } from "../platform/clock.ts";
import { cut, safe, shortJson } from "../platform/text.ts";
import type { LinkAccess } from "./session-link.ts";
import { PARAMETERS } from "./tool/arguments.ts";
import type { ToolArguments } from "./tool/arguments.ts";
import { failed } from "./tool/outcome.ts";
import type { Outcome } from "./tool/outcome.ts";
import type { ToolCall } from "./tool/call.ts";

/** What the transcript keeps of a call beside its text. */
export interface WorkflowToolDetails {
  readonly headline: string;
}

type Definition = ToolDefinition<typeof PARAMETERS, WorkflowToolDetails>;
type RenderedCall = NonNullable<Definition["renderCall"]>;
type RenderedResult = NonNullable<Definition["renderResult"]>;

const PREVIEW_CHARS = 60;

const DESCRIPTION =
  "Starts, shows and steers durable workflows, and hands in what their steps ask for. A run outlives " +
  "this session; its steps come as messages that name an interaction id. Read the skill `workflows` " +
  "before you write a workflow file.";

const GUIDELINES = [
  'When a message holds a workflow step, do what it asks and hand in the result with workflow (action "submit"; "answer" for a question), with exactly the interaction id that the message names.',
  "When workflow submit is rejected, correct the result by the error and submit it again with the same interaction id: the request stays open.",
  "Never try to answer a human decision of a workflow: tell the user to type /workflow decide.",
  "After workflow start neither wait nor poll: steps and the result come into this session by themselves.",
];

export function registerTool(pi: Pick<ExtensionAPI, "registerTool">, access: LinkAccess): void {
  pi.registerTool(workflowTool(access));
}

export function workflowTool(access: LinkAccess): Definition {
  return {
    name: "workflow",
    label: "workflow",
    description: DESCRIPTION,
    promptSnippet:
      "Start, show and steer durable workflows, and hand in the results of their steps",
    promptGuidelines: GUIDELINES,
    parameters: PARAMETERS,
    // It steers the session it is called from; a script would do so unseen.
    exposure: "model-only",
    execute: async (...[, params, signal, , ctx]) => {
      // Pi has checked them against the schema above.
      const call = { args: params as ToolArguments, signal, place: ctx };
      const outcome = await run(access, call);
      const { headline, text, isError = false } = outcome;
      return { content: [{ type: "text", text }], details: { headline }, isError };
    },
    renderCall,
    renderResult,
  };
}

async function run(
  access: LinkAccess,
  call: Pick<ToolCall, "args" | "signal" | "place">,
): Promise<Outcome> {
  const link = access();
  if (link === undefined) {
    const text =
      "This Pi is not attached to workflows: only an interactive Pi is. Use the command line, pi-workflows.";
    return failed("not attached", text);
  }
  if (link.state.kind === "unsupported") return failed("not attached", link.state.reason);
  const { runAction } = await import("./tool/run-action.ts");
  return await runAction({ ...call, link, now: systemClock.now() });
}

/** Arguments may be half written while they stream in. */
const renderCall: RenderedCall = (params, theme) => {
  const args = params as Partial<ToolArguments>;
  const subject = args.interaction ?? args.run ?? args.workflow ?? "";
  const parts = [
    theme.fg("toolTitle", theme.bold("workflow")),
    theme.fg("accent", safe(args.action ?? "…")),
    theme.fg("text", safe(subject)),
    theme.fg("dim", preview(args)),
  ];
  return new Text(parts.join(" ").trimEnd(), 0, 0);
};

const renderResult: RenderedResult = (result, { expanded, isPartial }, theme, context) => {
  if (isPartial) return new Text(theme.fg("muted", "asking the host …"), 0, 0);
  const { isError } = context;
  const headline = safe(result.details?.headline ?? "");
  const head = isError ? theme.fg("error", `✗ ${headline}`) : theme.fg("success", `✓ ${headline}`);
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  if (expanded) return new Text(`${head}\n${theme.fg("toolOutput", text)}`, 0, 0);
  const hint = context.keyHint("app.tools.expand", "to expand");
  return new Text(`${head} ${theme.fg("dim", `(${hint})`)}`, 0, 0);
};

function preview({ value, text, input }: Partial<ToolArguments>): string {
  const given = value ?? input;
  if (text !== undefined) return cut(safe(text), PREVIEW_CHARS);
  return given === undefined ? "" : shortJson(given, PREVIEW_CHARS);
}
