import { describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { sha256Hex } from "../../../src/platform/ids.ts";
import type { RecordedSource } from "../../../src/worker/definition/load.ts";
import type { LoadRequest } from "../../fixtures/children/loads-definitions.ts";
import type { Project } from "../../support/loader.ts";
import { createProject, endLoader, load, workflowText } from "../../support/loader.ts";

// A run must never go on with other code than it began with unless somebody said so:
// what is recorded is compared before anything is evaluated.

const TRACE = "globalThis.trace = [...(globalThis.trace ?? []), import.meta.url];";

function project(): Project {
  return createProject({
    "w.workflow.ts": workflowText(
      "[value, dep, (await import('./lib/late.ts')).late]",
      'import { value } from "./lib/helper.ts"; import dep from "dep";',
    ),
    "lib/helper.ts": "export const value = 1;\n",
    "lib/late.ts": "export const late = 2;\n",
    "node_modules/dep/package.json": '{ "name": "dep", "version": "1.0.0" }',
    "node_modules/dep/index.js": "module.exports = 3;",
  });
}

/** What the first run of this project recorded. */
function record(from: Project): Required<Pick<LoadRequest, "recorded" | "texts">> {
  const names = ["w.workflow.ts", "lib/helper.ts", "node_modules/dep", "lib/late.ts"];
  const recorded = names.map((name): RecordedSource => {
    const path = from.path(name);
    if (name === "node_modules/dep")
      return { path, kind: "package", digest: "", packageName: "dep", packageVersion: "1.0.0" };
    return { path, kind: "file", digest: sha256Hex(readFileSync(path)) };
  });
  const files = recorded.filter(({ kind }) => kind === "file");
  const texts = files.map(({ path, digest }) => [digest, readFileSync(path, "utf8")] as const);
  return { recorded, texts: Object.fromEntries(texts) };
}

describe("recorded sources", () => {
  test("that are unchanged are loaded, and none is told as new by another digest", async () => {
    const here = project();
    const { recorded } = record(here);
    expect(await load(here.request({ verify: recorded }))).toEqual({ differences: [] });
    const { results, sources } = await load(here.request({ recorded, run: ["n"] }));
    expect(results).toEqual([{ value: [1, 3, 2] }]);
    expect(sources.map(({ path, digest }) => ({ path, digest }))).toEqual(
      recorded.map(({ path, digest }) => ({ path, digest })),
    );
  });

  test("are compared all at once: what changed, what is missing, which version differs", async () => {
    const here = project();
    const { recorded } = record(here);
    here.write({
      "lib/helper.ts": "export const value = 1; // edited\n",
      "node_modules/dep/package.json": '{ "name": "dep", "version": "1.0.1" }',
    });
    here.remove("lib/late.ts");
    const { differences } = await load(here.request({ verify: recorded }));
    expect(differences).toEqual([
      {
        path: here.path("lib/helper.ts"),
        change: "changed",
        message: `${here.path("lib/helper.ts")} has changed`,
      },
      {
        path: here.path("node_modules/dep"),
        change: "version",
        message: `package dep is version 1.0.1, recorded was 1.0.0 (${here.path("node_modules/dep")})`,
      },
      {
        path: here.path("lib/late.ts"),
        change: "missing",
        message: `${here.path("lib/late.ts")} is missing`,
      },
    ]);
  });

  test("of a removed package are missing", async () => {
    const here = project();
    const { recorded } = record(here);
    here.remove("node_modules");
    const { differences } = await load(here.request({ verify: recorded }));
    expect(differences).toMatchObject([{ path: here.path("node_modules/dep"), change: "missing" }]);
  });

  test.each(["w.workflow.ts", "lib/helper.ts"])(
    "stop a load before any module runs when %s has changed",
    async (name) => {
      const here = project();
      const { recorded } = record(here);
      here.write({
        [name]: `${TRACE}\n${name === "w.workflow.ts" ? workflowText("1") : "export const value = 5;"}`,
      });
      const { changed, sources } = await load(here.request({ recorded }));
      expect(changed).toEqual([
        { path: here.path(name), change: "changed", message: `${here.path(name)} has changed` },
      ]);
      expect(sources).toEqual([]);
    },
  );

  test("stop a dynamic import whose file has changed meanwhile, before that file runs", async () => {
    const here = project();
    const { recorded } = record(here);
    here.write({ "lib/late.ts": "export const late = 'changed';\n" });
    const { results } = await load(here.request({ recorded, run: ["n"] }));
    expect(results).toMatchObject([
      {
        error: { name: "SourceChangedError" },
        changed: [{ path: here.path("lib/late.ts"), change: "changed" }],
      },
    ]);
  });

  test("stop a load when the workflow file itself is gone", async () => {
    const here = project();
    const { recorded } = record(here);
    here.remove("w.workflow.ts");
    const { changed } = await load(here.request({ recorded }));
    expect(changed).toMatchObject([{ path: here.path("w.workflow.ts"), change: "missing" }]);
  });

  test("do not include what is new, which is told as it is loaded", async () => {
    const here = project();
    const recorded = record(here).recorded.filter(({ path }) => !path.endsWith("late.ts"));
    const { sources } = await load(here.request({ recorded, run: ["n"] }));
    expect(sources.at(-1)).toMatchObject({
      path: here.path("lib/late.ts"),
      text: "export const late = 2;\n",
    });
  });
});

describe("recorded bytes", () => {
  test("are run in place of the disk's, whatever became of the files", async () => {
    const here = project();
    const { recorded, texts } = record(here);
    here.write({
      "w.workflow.ts": "throw new Error('the edited one');",
      "lib/helper.ts": "export const value = 99;",
    });
    here.remove("lib/late.ts");
    const { problems, results, changed } = await load(
      here.request({ recorded, texts, run: ["n"] }),
    );
    expect({ problems, results, changed }).toEqual({
      problems: [],
      results: [{ value: [1, 3, 2] }],
      changed: undefined,
    });
  });

  test("may be CommonJS", async () => {
    const here = createProject({
      "w.workflow.ts": workflowText(
        "[a, b.b]",
        'import { a } from "./a.cjs"; import b from "./a.cjs";',
      ),
      "a.cjs": "exports.a = 1;\nmodule.exports.b = require('./c.cjs').c;\n",
      "c.cjs": "module.exports = { c: 2 };\n",
    });
    const first = await load(here.request({ run: ["n"] }));
    await endLoader();
    expect(first.results).toEqual([{ value: [1, 2] }]);
    const texts = Object.fromEntries(first.sources.map(({ digest, text = "" }) => [digest, text]));
    here.remove("a.cjs");
    here.remove("c.cjs");
    const again = await load(here.request({ recorded: first.sources, texts, run: ["n"] }));
    expect({ problems: again.problems, results: again.results }).toEqual({
      problems: [],
      results: first.results,
    });
  });

  test("that are damaged are not run", async () => {
    const here = project();
    const { recorded } = record(here);
    const digest = recorded[0]?.digest ?? "";
    const { changed } = await load(here.request({ recorded, texts: { [digest]: "other bytes" } }));
    expect(changed).toMatchObject([
      { message: `the recorded bytes of ${here.path("w.workflow.ts")} are damaged` },
    ]);
  });
});
