import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  findWorkflow,
  isWorkflowPath,
  listWorkflows,
} from "../../../src/platform/workflow-files.ts";

let root = "";
let project = "";
let env: NodeJS.ProcessEnv = {};
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "flows-")));
  project = join(root, "a b'c\"d$(x)é 工");
  env = { PI_CODING_AGENT_DIR: join(root, "pi") };
  mkdirSync(project);
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe("workflows by name", () => {
  test("are found in the project before the user's own", () => {
    const own = file(join(root, "pi/workflows/release.workflow.ts"));
    expect(findWorkflow("release", project, env)).toEqual({ path: own });
    const nearer = file(join(project, ".pi/workflows/release.workflow.mjs"));
    expect(findWorkflow("release", project, env)).toEqual({ path: nearer });
    expect(listed()).toEqual(["release project"]);
  });

  test("are files of four endings, sorted, and nothing else", () => {
    for (const name of ["b.workflow.ts", "a.workflow.mts", "d.workflow.js", "c.workflow.mjs"]) {
      file(join(project, ".pi/workflows", name));
    }
    for (const name of ["helper.ts", "x.workflow.cjs", ".workflow.ts", "y.workflow.ts.bak"]) {
      file(join(project, ".pi/workflows", name));
    }
    mkdirSync(join(project, ".pi/workflows/folder.workflow.ts"));
    symlinkSync(join(root, "nowhere"), join(project, ".pi/workflows/dangling.workflow.ts"));
    expect(listed()).toEqual(["a project", "b project", "c project", "d project"]);
  });

  test("are not loaded to be listed", () => {
    const evil = file(join(project, ".pi/workflows/evil.workflow.ts"), "throw new Error('ran')");
    expect(findWorkflow("evil", project, env)).toEqual({ path: evil });
  });

  test("have their links resolved", () => {
    const real = file(join(root, "elsewhere/real.workflow.ts"));
    mkdirSync(join(project, ".pi/workflows"), { recursive: true });
    symlinkSync(real, join(project, ".pi/workflows/linked.workflow.ts"));
    expect(findWorkflow("linked", project, env)).toEqual({ path: real });
  });

  test("that are unknown are answered with near names, nearest first", () => {
    for (const name of ["release-note", "release-notes", "deploy"]) {
      file(join(project, ".pi/workflows", `${name}.workflow.ts`));
    }
    expect(findWorkflow("relaese-note", project, env)).toEqual({
      nearNames: ["release-note", "release-notes"],
    });
    expect(findWorkflow("zzz", project, env)).toEqual({ nearNames: [] });
    expect(findWorkflow("note", project, env)).toEqual({
      nearNames: ["release-note", "release-notes"],
    });
  });

  test.each(["__proto__", "constructor", "--help", "a\nb", "x".repeat(10_000), ""])(
    "are only compared, never used as a path: %j",
    (name) => {
      expect(findWorkflow(name, project, env)).toEqual({ nearNames: [] });
    },
  );
});

describe("workflows by path", () => {
  test("are taken relative to the project", () => {
    const path = file(join(project, "flows/one.workflow.ts"));
    expect(findWorkflow("flows/one.workflow.ts", project, env)).toEqual({ path });
    expect(findWorkflow("./flows/../flows/one.workflow.ts", project, env)).toEqual({ path });
    expect(findWorkflow(path, "/", env)).toEqual({ path });
  });

  test("need no particular name", () => {
    const path = file(join(project, "plain.ts"));
    expect(findWorkflow("plain.ts", project, env)).toEqual({ path });
  });

  test("that do not exist, or are folders, are answered with near names", () => {
    file(join(project, ".pi/workflows/one.workflow.ts"));
    expect(findWorkflow("./onee.workflow.ts", project, env)).toEqual({ nearNames: ["one"] });
    expect(findWorkflow(project, project, env)).toEqual({ nearNames: [] });
  });

  test.each([
    ["a/b", true],
    ["a.ts", true],
    ["a.mjs", true],
    ["a\\b", true],
    ["a", false],
    ["a.workflow", false],
  ])("%s is one: %j", (text, isPath) => {
    expect(isWorkflowPath(text)).toBe(isPath);
  });
});

/** Names and origins, without what the package itself brings. */
function listed(): readonly string[] {
  return listWorkflows(project, env)
    .filter(({ origin }) => origin !== "built-in")
    .map(({ name, origin }) => `${name} ${origin}`);
}

function file(path: string, text = ""): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
