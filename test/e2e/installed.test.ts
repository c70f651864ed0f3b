// What users have is the packed package in a folder of their own, which may be called anything: it
// must find its programs, its schema and its dependencies from there, and start what lies there.
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { statePaths } from "../../src/platform/state-folder.ts";
import { runCli } from "../support/cli-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const NAME = "a b'c$(x)é 工";

const WORKFLOW = `
import { checkpoint, compute, defineWorkflow, idempotentEffect, shell } from "pi-workflows";
import { greet } from "./grüße";

export default defineWorkflow<{ readonly who: string }>({
  name: "hello",
  input: (value) => value as { readonly who: string },
  startAt: "where",
  nodes: {
    where: shell({
      effect: idempotentEffect("where"),
      exec: () => ({ command: "pwd" }),
      parse: ({ stdout }) => stdout.trim(),
    }),
    ask: checkpoint({ summary: "Greet?" }),
    done: compute({ run: ({ input, outputs }) => [outputs["where"], greet(input.who)] }),
  },
  edges: [
    { from: "where", to: "ask" },
    { from: "ask", to: "done" },
  ],
});
`;

test("the packed package works from a folder with spaces, quotes and letters of all kinds", async () => {
  const { project, entry, paths } = install();
  const cli = { paths, entry, cwd: project };
  onTestFinished(async () => void (await runCli(cli, "host", "stop", "--now")));
  expect(await runCli(cli, "--version")).toMatchObject({ code: 0, stdout: versionOf(entry) });
  const file = "./hello.workflow.ts";
  expect(await runCli(cli, "validate", file)).toMatchObject({ code: 0 });
  const input = '{"who":"Zoë"}';
  const started = await runCli(cli, "start", file, "--input", input, "--wait", "--json");
  expect(started.stderr).toBe("");
  expect(started.code).toBe(13);
  const { interactions } = JSON.parse((await runCli(cli, "interactions", "--json")).stdout) as {
    readonly interactions: readonly { interactionId: string; runId: string }[];
  };
  const { interactionId = "", runId = "" } = interactions[0] ?? {};
  expect((await runCli(cli, "answer", interactionId, '"yes"')).code).toBe(0);
  const watched = await runCli(cli, "watch", runId);
  expect(watched.code).toBe(0);
  const shown = await runCli(cli, "show", runId, "--json");
  expect(shown.stdout).toContain("Grüße, Zoë");
  expect(shown.stdout).toContain(JSON.stringify(project).slice(1, -1));
  expect((await runCli(cli, "doctor")).stdout).not.toMatch(/^wrong/m);
});

interface Installed {
  readonly project: string;
  readonly entry: string;
  readonly paths: ReturnType<typeof statePaths>;
}

/** The package as `npm install` lays it out, with this repository's copies of what it depends on. */
function install(): Installed {
  const folder = mkdtempSync(join(tmpdir(), "i-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const project = join(folder, NAME);
  const modules = join(project, "node_modules");
  const home = join(modules, "pi-workflows");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["xzf", inject("tarball"), "-C", home, "--strip-components=1"]);
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((one) => !one.startsWith(".")))
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  writeProject(project);
  const paths = statePaths({ PI_WORKFLOWS_HOME: join(folder, `state ${NAME}`) });
  mkdirSync(paths.folder, { mode: 0o700 });
  return { project, entry: join(home, "bin/pi-workflows.cjs"), paths };
}

function writeProject(project: string): void {
  writeFileSync(join(project, "hello.workflow.ts"), WORKFLOW);
  const greet = "export const greet = (who: string): string => `Grüße, ${who}`;\n";
  writeFileSync(join(project, "grüße.ts"), greet);
}

function versionOf(entry: string): string {
  const manifest = readFileSync(join(entry, "../../package.json"), "utf8");
  return `${(JSON.parse(manifest) as { readonly version: string }).version}\n`;
}
