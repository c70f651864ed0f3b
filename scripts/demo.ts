/**
 * `npm run demo`: runs examples/history-report.workflow.ts over this repository's
 * own history with the real program, in a state folder of its own that is removed
 * at the end. At a terminal you answer the question; elsewhere the demo does.
 */
import { spawnSync } from "node:child_process";
import type { StdioOptions } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface CommandEnd {
  readonly code: number;
  readonly text: string;
}

interface InteractionList {
  readonly interactions: readonly { readonly interactionId: string; readonly runId: string }[];
}

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "piwf-demo-"));
const report = join(folder, "history.md");
const env = { ...process.env, PI_WORKFLOWS_HOME: join(folder, "state") };
const NEEDS_ANSWER = 13;

/** Runs the command line as a user would, and shows what it shows. */
function cli(args: readonly string[], { capture = false } = {}): CommandEnd {
  const stdio: StdioOptions = capture ? ["inherit", "pipe", "inherit"] : "inherit";
  const done = spawnSync(process.execPath, [join(root, "bin", "pi-workflows.cjs"), ...args], {
    cwd: root,
    env,
    stdio,
    encoding: "utf8",
  });
  return { code: done.status ?? 1, text: capture ? done.stdout : "" };
}

/** As a shell takes it, so that the line can be copied. */
function quoted(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function say(command: readonly string[]): readonly string[] {
  process.stdout.write(`\n$ pi-workflows ${command.map(quoted).join(" ")}\n`);
  return command;
}

function main(): number {
  const workflow = join("examples", "history-report.workflow.ts");
  say(["graph", workflow]);
  if (cli(["graph", workflow]).code !== 0) return 1;
  const input = JSON.stringify({ range: "HEAD", report, top: 8 });
  let { code } = cli(say(["start", workflow, "--input", input, "--wait"]));
  if (code === NEEDS_ANSWER) code = answerAndWatch();
  if (code !== 0) return code;
  process.stdout.write(`\n${readFileSync(report, "utf8")}`);
  return 0;
}

function answerAndWatch(): number {
  const { text } = cli(["interactions", "--json"], { capture: true });
  // The shape that docs/cli.md promises.
  const [question] = (JSON.parse(text) as InteractionList).interactions;
  if (question === undefined) throw new Error("the run waits, and nothing is asked");
  const id = question.interactionId;
  const terminal = process.stdin.isTTY && process.stdout.isTTY;
  const answered = cli(say(terminal ? ["answer", id] : ["answer", id, '{"write":true}']));
  if (answered.code !== 0) return answered.code;
  return cli(say(["watch", question.runId])).code;
}

let code = 1;
try {
  code = main();
} finally {
  cli(["host", "stop"], { capture: true });
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = code;
