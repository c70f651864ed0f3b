import { describe, expect, test } from "vitest";
import { createProject, load, workflowText } from "../../support/loader.ts";
import type { Project } from "../../support/loader.ts";
import type { LoadProblem } from "../../../src/worker/definition/load.ts";

/** All problems of a project, with paths shown from its folder, as `file:line:column message`. */
async function problemsOf(project: Project, entry?: string): Promise<readonly string[]> {
  const request = project.request(entry === undefined ? {} : { entry });
  const { problems, graph, crashed } = await load(request);
  expect(crashed).toBeUndefined();
  expect(graph).toBeUndefined();
  return problems.map((problem) => shown(project, problem)).toSorted();
}

function shown(project: Project, { file, line, column, place, message }: LoadProblem): string {
  const name = file?.replace(`${project.folder}/`, "");
  const where = [name, line, column].filter((part) => part !== undefined).join(":");
  const text = message.replaceAll(`${project.folder}/`, "");
  return `${where} ${place === undefined ? "" : `[${place}] `}${text}`;
}

describe("a broken workflow file", () => {
  test("is told with line and column for every syntax error of every file", async () => {
    const project = createProject({
      "w.workflow.ts": workflowText("1", 'import "./a.ts";\nimport "./b.ts";'),
      "a.ts": "const ok = 1;\nconst = 2;\n",
      "b.ts": "export const b: = 3;\n",
    });
    expect(await problemsOf(project)).toEqual([
      'a.ts:2:7 Expected identifier but found "="',
      'b.ts:1:17 Unexpected "="',
    ]);
  });

  test("is told with importer and specifier for every import that leads nowhere", async () => {
    const project = createProject({
      "w.workflow.ts": workflowText("x", 'import { x } from "./nowhere.ts";\nimport "./helper";'),
      "helper.ts": "\n\nimport { y } from './gone/y.js';\nexport const h = y;\n",
    });
    expect(await problemsOf(project)).toEqual([
      'helper.ts:3:1 cannot find "./gone/y.js", which is imported here',
      'w.workflow.ts:2:1 cannot find "./nowhere.ts", which is imported here',
    ]);
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    [
      "a package that is not installed",
      { "w.workflow.ts": workflowText("z", 'import z from "not-installed";') },
      'w.workflow.ts:2:1 cannot find "not-installed", which is imported here',
    ],
    [
      "a required file that is missing",
      {
        "w.workflow.ts": workflowText("c", 'import c from "./c.cjs";'),
        "c.cjs": "const a = 1;\nmodule.exports = require('./gone.cjs') + a;\n",
      },
      'c.cjs cannot find "./gone.cjs", which is imported here',
    ],
    [
      "an export that a helper does not have",
      {
        "w.workflow.ts": workflowText("nope", '// a comment\nimport { nope } from "./h.ts";'),
        "h.ts": "export const yes = 1;",
      },
      'w.workflow.ts:3:1 "./h.ts" has no export named "nope"',
    ],
    [
      "an export that the API does not have",
      {
        "w.workflow.ts":
          'import { defineWorkflow, telepathy } from "pi-workflows";\nexport default defineWorkflow(telepathy);\n',
      },
      'w.workflow.ts:1:1 "pi-workflows" has no export named "telepathy"',
    ],
    [
      "a syntax error of JavaScript",
      {
        "w.workflow.ts": workflowText("j", 'import j from "./j.js";'),
        "j.js": "export default 1;\n\nexport const = 2;\n",
      },
      'j.js:3:14 Expected identifier but found "="',
    ],
    [
      "JSON that is none",
      {
        "w.workflow.ts": workflowText("d", 'import d from "./d.json" with { type: "json" };'),
        "d.json": "{ broken",
      },
      "d.json cannot be read as JSON: Expected property name",
    ],
    [
      "a subpath that a package does not offer",
      {
        "w.workflow.ts": workflowText("d", 'import d from "dep/inner";'),
        "node_modules/dep/package.json":
          '{ "name": "dep", "version": "1.0.0", "exports": "./i.js" }',
        "node_modules/dep/i.js": "module.exports = 1;",
      },
      "w.workflow.ts:2:1 cannot import \"dep/inner\": Package subpath './inner' is not defined",
    ],
    [
      "code that throws",
      {
        "w.workflow.ts": workflowText("1", 'import "./t.ts";'),
        "t.ts": "interface A { a: 1 }\n\nthrow new RangeError('too early');\n",
      },
      "t.ts:3:7 threw while it was loaded: RangeError: too early",
    ],
    [
      "code that throws no error",
      { "w.workflow.ts": workflowText("1", "if (Math.PI > 3) throw null;") },
      "w.workflow.ts threw while it was loaded: ThrownValue: null was thrown",
    ],
    [
      "no default export",
      { "w.workflow.ts": "export const workflow = 1;\n" },
      "w.workflow.ts has no default export; write `export default defineWorkflow({ … })`",
    ],
    [
      "another default export",
      { "w.workflow.ts": "export default { name: 'w' };\n" },
      "w.workflow.ts its default export is not made by defineWorkflow()",
    ],
    [
      "an empty file",
      { "w.workflow.ts": "" },
      "w.workflow.ts has no default export; write `export default defineWorkflow({ … })`",
    ],
  ])("is told with its place for %s", async (_name, files, expected) => {
    const [problem = "", ...others] = await problemsOf(createProject(files));
    expect(others).toEqual([]);
    expect(problem.slice(0, expected.length)).toBe(expected);
  });

  test("is told when it does not exist", async () => {
    const project = createProject({ "other.workflow.ts": "" });
    expect(await problemsOf(project)).toEqual(["w.workflow.ts there is no such file"]);
  });

  test("is told when it is a folder", async () => {
    const project = createProject({ "w.workflow.ts/x": "" });
    expect(await problemsOf(project)).toEqual(["w.workflow.ts there is no such file"]);
  });

  test("is told all problems of its definition, by their places in it", async () => {
    const text = [
      'import { compute, defineWorkflow } from "pi-workflows";',
      "interface Unused {",
      "  a: 1;",
      "}",
      "export default defineWorkflow({",
      '  name: "w",',
      '  startAt: "nowhere",',
      "  nodes: { a: compute({ run: () => 1, timeoutMs: -5 }) },",
      '  edges: [{ from: "a", to: "b" }],',
      "});",
    ];
    const project = createProject({ "w.workflow.ts": text.join("\n") });
    expect(await problemsOf(project)).toEqual([
      'w.workflow.ts [edges[0].to] there is no node "b"; the nodes are "a"',
      "w.workflow.ts [nodes.a.timeoutMs] must be more than 0 ms, not -5",
      'w.workflow.ts [startAt] there is no node "nowhere"; the nodes are "a"',
    ]);
  });
});
