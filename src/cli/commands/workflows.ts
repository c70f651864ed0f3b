import { resolve } from "node:path";
import { listWorkflows } from "../../platform/workflow-files.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { table } from "../table.ts";
import { safe } from "../../platform/text.ts";

export const command: Command = {
  description:
    "Lists the workflows that can be started by name: those of the project (.pi/workflows),\n" +
    "your own, and the built-in ones. Goes by file names alone; nothing is loaded or run.",
  options: { project: { type: "string", value: "DIR", help: "The project (the present folder)" } },
  examples: [["workflows", "what `start NAME` knows here"]],
  async run(args, { out, json, cwd }) {
    const workflows = listWorkflows(resolve(cwd, args.text("project") ?? "."));
    if (json) {
      out.json({ workflows });
    } else if (workflows.length === 0) {
      out.note("no workflows: put NAME.workflow.ts into .pi/workflows");
    } else {
      const rows = workflows.map(({ name, origin, path }) => [safe(name), origin, safe(path)]);
      const heads = ["NAME", "ORIGIN", "FILE"];
      out.lines(await table([heads, ...rows], { columns: Number.POSITIVE_INFINITY }));
    }
    return ExitCode.success;
  },
};
