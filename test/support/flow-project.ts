/** A project whose workflow has a root, a helper, a package, and a module that is loaded late. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = `
import { checkpoint, compute, defineWorkflow } from "pi-workflows";
import { helper } from "./helper";
import { version } from "words";

const root = "root 1";
async function words() {
  const { late } = await import("./late");
  return [root, helper, late, version];
}

export default defineWorkflow({
  name: "flow",
  startAt: "plan",
  nodes: {
    plan: compute({ run: words }),
    ask: checkpoint({ summary: "Go on?" }),
    done: compute({ run: async ({ outputs }) => ({ before: outputs["plan"], after: await words() }) }),
  },
  edges: [
    { from: "plan", to: "ask" },
    { from: "ask", to: "done" },
  ],
});
`;

const FILES: Readonly<Record<string, string>> = {
  "flow.workflow.ts": ROOT,
  "helper.ts": 'export const helper: string = "helper 1";\n',
  "late.ts": 'export const late: string = "late 1";\n',
  "node_modules/words/package.json":
    '{ "name": "words", "version": "1.0.0", "main": "index.js" }\n',
  "node_modules/words/index.js": 'exports.version = "words 1";\n',
};

/** What every node says of its modules when nothing was changed. */
export const FIRST_WORDS = ["root 1", "helper 1", "late 1", "words 1"];

export class FlowProject {
  readonly folder: string;
  readonly workflow: string;

  constructor(folder: string) {
    this.folder = folder;
    this.workflow = join(folder, "flow.workflow.ts");
    mkdirSync(join(folder, "node_modules/words"), { recursive: true });
    for (const [name, text] of Object.entries(FILES)) this.write(name, text);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  remove(name: string): void {
    rmSync(this.path(name));
  }

  /** Replaces a text, and adds code that leaves a trace if the module is ever evaluated. */
  edit(name: string, from: string, to: string): void {
    const text = readFileSync(this.path(name), "utf8");
    if (!text.includes(from)) throw new Error(`${name} does not hold ${from}`);
    const trap = name.endsWith(".ts")
      ? `\nimport { writeFileSync as trace } from "node:fs";\ntrace(${JSON.stringify(this.trace)}, "");\n`
      : "";
    this.write(name, text.replace(from, to) + trap);
  }

  /** Exists once an edited module was evaluated. */
  get trace(): string {
    return this.path("evaluated");
  }
}
