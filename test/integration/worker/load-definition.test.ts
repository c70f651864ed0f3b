import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createProject, load, workflowText } from "../../support/loader.ts";

describe("a workflow file", () => {
  test("is loaded with its helpers, and every source is told with its bytes", async () => {
    const helper = "export const value: number = 41;\n";
    const text = workflowText("value + 1", 'import { value } from "./lib/helper.ts";');
    const project = createProject({ "w.workflow.ts": text, "lib/helper.ts": helper });
    const { problems, graph, results, sources } = await load(project.request({ run: ["n"] }));
    expect(problems).toEqual([]);
    expect(graph).toMatchObject({
      name: "w",
      startAt: "n",
      nodes: [{ path: "n", kind: "compute" }],
    });
    expect(results).toEqual([{ value: 42 }]);
    expect(sources).toEqual([
      {
        path: project.path("w.workflow.ts"),
        kind: "file",
        digest: sha256Hex(text),
        size: Buffer.byteLength(text),
        text,
      },
      {
        path: project.path("lib/helper.ts"),
        kind: "file",
        digest: sha256Hex(helper),
        size: helper.length,
        text: helper,
      },
    ]);
  });

  test("may use everything that TypeScript projects use", async () => {
    const head = `
import type { Nothing } from "./nowhere.ts";
import { Shape } from "./types";
import { Color } from "./lib/color.js";
import { deep } from "./lib";
import { mts } from "./lib/m.mjs";
import data from "./data.json";
import stated from "./data.json" with { type: "json" };
import cts, { named } from "./lib/c.cjs";
import plain from "./lib/plain.cjs";
const unused: Nothing | Shape | undefined = undefined;`;
    const project = createProject({
      "w.workflow.ts": workflowText(
        "[unused, Color.Green, deep, mts, data.n, stated.n, cts.named, named, plain.sum, (await import('./lib/late')).late]",
        head,
      ),
      "types.d.ts": "export interface Shape { a: 1 }",
      "lib/color.ts": "export enum Color { Red = 1, Green }",
      "lib/index.ts": 'export { deep } from "./deeper/deep";',
      "lib/deeper/deep.tsx": "export const deep = <T,>(x: T): T => x; ".replace(
        "export const deep = <T,>(x: T): T => x; ",
        "export const deep: string = 'deep';",
      ),
      "lib/m.mts":
        "class P { constructor(private readonly n: number) {} get(): number { return this.n; } }\nexport const mts = new P(5).get();",
      "lib/c.cts":
        'const { named } = require("./more.cjs") as { named: number };\nmodule.exports = { named };',
      "lib/more.cjs": "exports.named = 8;",
      "lib/plain.cjs":
        'const data = require("../data.json");\nconst { compute } = require("pi-workflows");\nexports.sum = data.n + (typeof compute === "function" ? 1 : 0);',
      "lib/late.ts": "export const late = 'late' as const;",
      "data.json": '{ "n": 7 }\n',
    });
    const { problems, results, sources } = await load(project.request({ run: ["n"] }));
    expect(problems).toEqual([]);
    // JSON makes null of the undefined member.
    expect(results).toEqual([{ value: [null, 2, "deep", 5, 7, 7, 8, 8, 8, "late"] }]);
    const names = sources.map(({ path }) => path.slice(project.folder.length + 1)).toSorted();
    expect(names).toEqual([
      "data.json",
      "lib/c.cts",
      "lib/color.ts",
      "lib/deeper/deep.tsx",
      "lib/index.ts",
      "lib/late.ts",
      "lib/m.mts",
      "lib/more.cjs",
      "lib/plain.cjs",
      "w.workflow.ts",
    ]);
  });

  test.each(['{ "type": "module" }', '{ "type": "commonjs" }', "{}", undefined])(
    "works the same in a project whose package.json is %s",
    async (manifest) => {
      const project = createProject({
        "w.workflow.ts": workflowText(
          "a + b",
          'import { a } from "./a"; import { b } from "./b.js";',
        ),
        "a.ts": "export const a = 1;",
        "b.js": manifest?.includes("commonjs") === true ? "exports.b = 2;" : "export const b = 2;",
        ...(manifest === undefined ? {} : { "package.json": manifest }),
      });
      const { problems, results } = await load(project.request({ run: ["n"] }));
      expect(problems).toEqual([]);
      expect(results).toEqual([{ value: 3 }]);
    },
  );

  test.each([
    ["w.workflow.mts", workflowText("1")],
    ["w.workflow.js", workflowText("1")],
    ["w.workflow.mjs", workflowText("1")],
    [
      "w.workflow.cjs",
      'const { compute, defineWorkflow } = require("pi-workflows");\nmodule.exports = defineWorkflow({ name: "w", startAt: "n", nodes: { n: compute({ run: () => 1 }) } });',
    ],
    ["old.workflow.ts", workflowText("1").replace("pi-workflows", "@osolmaz/pi-workflows")],
  ])("may be named and written as %s", async (entry, text) => {
    const project = createProject({ [entry]: text });
    const { problems, results } = await load(project.request({ entry, run: ["n"] }));
    expect(problems).toEqual([]);
    expect(results).toEqual([{ value: 1 }]);
  });

  test("gets the API of the worker, not a copy that the project has installed", async () => {
    const project = createProject({
      "w.workflow.ts": workflowText("1"),
      "node_modules/pi-workflows/package.json":
        '{ "name": "pi-workflows", "version": "0.0.1", "main": "i.js" }',
      "node_modules/pi-workflows/i.js": "throw new Error('the wrong copy');",
    });
    const { problems, sources } = await load(project.request());
    expect(problems).toEqual([]);
    expect(sources).toHaveLength(1);
  });

  test("records packages by name and version, also those that packages use", async () => {
    const project = createProject({
      "w.workflow.ts": workflowText(
        "[dep, scoped]",
        'import dep from "dep"; import scoped from "@scope/it";',
      ),
      "node_modules/dep/package.json": '{ "name": "dep", "version": "1.2.3", "main": "i.js" }',
      "node_modules/dep/i.js": 'module.exports = require("inner") + require("./more.js");',
      "node_modules/dep/more.js": "module.exports = 1;",
      "node_modules/dep/node_modules/inner/package.json": '{ "name": "inner", "version": "4.0.0" }',
      "node_modules/dep/node_modules/inner/index.js": "module.exports = 10;",
      "node_modules/@scope/it/package.json":
        '{ "name": "@scope/it", "version": "2.0.0", "type": "module", "exports": "./i.js" }',
      "node_modules/@scope/it/i.js": "export default 100;",
    });
    const { results, sources } = await load(project.request({ run: ["n"] }));
    expect(results).toEqual([{ value: [11, 100] }]);
    const packages = sources
      .filter(({ kind }) => kind === "package")
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
    expect(packages).toEqual([
      {
        path: project.path("node_modules/@scope/it"),
        kind: "package",
        digest: "",
        size: 0,
        packageName: "@scope/it",
        packageVersion: "2.0.0",
      },
      {
        path: project.path("node_modules/dep"),
        kind: "package",
        digest: "",
        size: 0,
        packageName: "dep",
        packageVersion: "1.2.3",
      },
      {
        path: project.path("node_modules/dep/node_modules/inner"),
        kind: "package",
        digest: "",
        size: 0,
        packageName: "inner",
        packageVersion: "4.0.0",
      },
    ]);
  });

  test("outside of the project may use the project's packages", async () => {
    const project = createProject({
      "node_modules/dep/package.json": '{ "name": "dep", "version": "1.0.0" }',
      "node_modules/dep/index.js": "module.exports = 5;",
    });
    const entryPath = join(project.folder, "..", "user.workflow.ts");
    writeFileSync(entryPath, workflowText("dep", 'import dep from "dep";'));
    const { problems, results } = await load(project.request({ entryPath, run: ["n"] }));
    expect(problems).toEqual([]);
    expect(results).toEqual([{ value: 5 }]);
  });

  test.each(["link.workflow.ts", "linked/w.workflow.ts"])(
    "may be reached through a symbolic link, %s, and is known by its real path",
    async (entry) => {
      const project = createProject({
        "real/w.workflow.ts": workflowText("value", 'import { value } from "./v";'),
        "real/v.ts": "export const value = 3;",
      });
      symlinkSync(project.path("real/w.workflow.ts"), project.path("link.workflow.ts"));
      symlinkSync(project.path("real"), project.path("linked"));
      const { results, sources } = await load(project.request({ entry, run: ["n"] }));
      expect(results).toEqual([{ value: 3 }]);
      expect(sources[0]?.path).toBe(project.path("real/w.workflow.ts"));
    },
  );

  test("may use names that its package.json maps, with TypeScript behind them", async () => {
    const project = createProject({
      "package.json": '{ "type": "module", "imports": { "#lib/*": "./lib/*.js" } }',
      "w.workflow.ts": workflowText("value", 'import { value } from "#lib/v";'),
      "lib/v.ts": "export const value = 9;",
    });
    const { problems, results } = await load(project.request({ run: ["n"] }));
    expect(problems).toEqual([]);
    expect(results).toEqual([{ value: 9 }]);
  });

  test("throws with the line that the author wrote", async () => {
    const project = createProject({
      "w.workflow.ts": workflowText("fail()", 'import { fail } from "./fail";'),
      "fail.ts":
        "interface A {\n  a: 1;\n}\n\nexport function fail(): A {\n  throw new Error('boom');\n}\n",
    });
    const { results } = await load(project.request({ run: ["n"] }));
    expect(results[0]?.error?.message).toBe("boom");
    expect(results[0]?.error?.stack).toContain(`${project.path("fail.ts")}:6:9`);
  });

  test("tells warnings also when there are problems, which they often explain", async () => {
    const text = workflowText("1").replace("compute({", "compute({ timeout: 5,");
    const broken = text.replace("startAt:", "startsAt:");
    const project = createProject({ "w.workflow.ts": broken });
    const { problems, warnings } = await load(project.request());
    expect(problems.map(({ place }) => place)).toContain("startAt");
    expect(warnings.map(({ place }) => place)).toEqual(["startsAt", "nodes.n.timeout"]);
    expect(warnings[0]?.file).toBe(project.path("w.workflow.ts"));
  });

  test("tells its warnings with the file", async () => {
    const text = workflowText("1").replace("compute({", "compute({ timeout: 5,");
    const project = createProject({ "w.workflow.ts": text });
    const { problems, warnings } = await load(project.request());
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      {
        place: "nodes.n.timeout",
        message: "unknown field, which is ignored; the nearest known field is timeoutMs",
        file: project.path("w.workflow.ts"),
      },
    ]);
  });
});

test("a process does not load one file twice, since the second time would show the first", async () => {
  const project = createProject({ "w.workflow.ts": workflowText("1") });
  await load(project.request());
  const { crashed } = await load(project.request());
  expect(crashed?.message).toBe(
    `${project.path("w.workflow.ts")} was loaded in this process before`,
  );
});
