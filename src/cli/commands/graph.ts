import type { RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { ValidateWorkflowResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { ValidateWorkflowResponse } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { UsageError } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { drawingOf } from "../graph/drawing.ts";
import type { Drawing } from "../graph/drawing.ts";
import { problemLine } from "../report-error.ts";
import { messageJson } from "../values.ts";
import { validateWorkflow } from "../validate-workflow.ts";
import { attemptWordIn } from "../views/words.ts";

type Draw = (drawing: Drawing) => Promise<readonly string[]>;

/** Each way to draw is loaded only when it is asked for. */
const FORMATS: Readonly<Record<string, Draw>> = {
  text: async (drawing) => {
    const { BOX_LETTERS, drawText } = await import("../graph/text-drawing.ts");
    return drawText(drawing, BOX_LETTERS);
  },
  ascii: async (drawing) => {
    const { ASCII_LETTERS, drawText } = await import("../graph/text-drawing.ts");
    return drawText(drawing, ASCII_LETTERS);
  },
  mermaid: async (drawing) => (await import("../graph/languages.ts")).drawMermaid(drawing),
  dot: async (drawing) => (await import("../graph/languages.ts")).drawDot(drawing),
  svg: async (drawing) => (await import("../graph/svg.ts")).drawSvg(drawing),
};

export const command: Command = {
  description:
    "Draws a workflow: of a file or name, or of a run, which also shows what became of each\n" +
    "node. A run is drawn from the workflow file as it is now.",
  positionals: [{ name: "FILE|NAME|RUN", completes: "workflow" }],
  options: {
    format: {
      type: "string",
      value: "FORMAT",
      help: "How to draw (text)",
      choices: Object.keys(FORMATS),
    },
    project: { type: "string", value: "DIR", help: "Folder the name is looked up in" },
  },
  examples: [
    ["graph notes.workflow.ts", "on the terminal"],
    ["graph run_01jd", "with the state of each node"],
    ["graph notes --format svg > notes.svg", "as a picture"],
  ],
  async run(args, cli) {
    const format = args.text("format") ?? "text";
    const draw = FORMATS[format];
    if (draw === undefined) {
      throw new UsageError(`--format must be one of ${Object.keys(FORMATS).join(", ")}`);
    }
    const { response, statuses } = await lookAt(cli, args.required(0), args.text("project"));
    if (cli.json) {
      cli.out.json(messageJson(ValidateWorkflowResponseSchema, response));
    } else if (response.graph !== undefined && response.problems.length === 0) {
      cli.out.lines(await draw(drawingOf(response.graph, statuses)));
    } else {
      for (const problem of response.problems) cli.out.note(`problem  ${problemLine(problem)}`);
      for (const warning of response.warnings) cli.out.note(`warning  ${problemLine(warning)}`);
    }
    return response.problems.length === 0 ? ExitCode.success : ExitCode.usage;
  },
};

interface Seen {
  readonly response: ValidateWorkflowResponse;
  readonly statuses: ReadonlyMap<string, string>;
}

async function lookAt(cli: Cli, given: string, project: string | undefined): Promise<Seen> {
  if (!given.startsWith("run_")) {
    return { response: await validateWorkflow(cli, given, project), statuses: new Map() };
  }
  const client = await cli.connect();
  const { run } = await client.call(({ runs }) => runs.getRun({ runId: given }));
  const path = run?.workflowPath ?? "";
  return {
    response: await validateWorkflow(cli, path, run?.summary?.projectDir),
    statuses: run === undefined ? new Map() : statusesOf(run),
  };
}

/** The newest attempt's state of each node. */
function statusesOf({ attempts, summary }: RunView): ReadonlyMap<string, string> {
  return new Map(
    attempts.map((attempt) => {
      const { node, visit } = attempt;
      const times = visit > 1 ? `, visit ${visit}` : "";
      return [node, attemptWordIn(summary, attempt) + times];
    }),
  );
}
