// A decision that only a person makes, at a terminal.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { runCli } from "../support/cli-process.ts";
import { newStateFolder, startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";
import { CTRL_C, CTRL_D, hasTerminal, NEEDS_TERMINAL, Terminal } from "../support/terminal.ts";

const DECISION = `import { choice, compute, defineHumanChoices, defineWorkflow, humanDecision } from "pi-workflows";
const choices = defineHumanChoices({
  ship: choice({ label: "Ship it" }),
  back: choice({
    label: "Send it back",
    input: { name: "comment", prompt: "What should change?", minLength: 10, maxLength: 40 },
  }),
});
export default defineWorkflow({
  name: "decision",
  startAt: "ask",
  nodes: {
    ask: humanDecision({
      summary: "Ready?",
      audience: "release manager",
      choices,
      request: () => ({ title: "Release 1.2.3" }),
    }),
    after: compute({ run: ({ outputs }) => ({ decided: outputs.ask }) }),
  },
  edges: [{ from: "ask", to: "after" }],
});
`;

describe.skipIf(!hasTerminal())(`a decision (${NEEDS_TERMINAL})`, () => {
  let host: RealHost;
  let place: { readonly paths: StatePaths; readonly cwd: string };

  beforeEach(async () => {
    const folder = newStateFolder();
    const cwd = join(folder, "project");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "decision.workflow.ts"), DECISION);
    const state = join(folder, "state");
    mkdirSync(state, { mode: 0o700 });
    host = await startRealHost({ folder: state });
    place = { paths: host.paths, cwd };
  });

  async function waiting(): Promise<string> {
    const { code } = await runCli(place, "start", "decision.workflow.ts", "--wait");
    expect(code).toBe(13);
    return (await host.runs.listRuns({})).runs[0]?.runId ?? "";
  }

  test("asks for a text again until it fits, and takes the end of the run's id", async () => {
    const runId = await waiting();
    const shown = await runCli(place, "show", runId);
    expect(shown.stdout).toContain("Waits for a person's decision: ");
    expect(shown.stdout).toContain("- Send it back (back), with a text of 10 to 40 characters");
    expect(shown.stdout).toMatch(/^ {2}pi-workflows decide int_\w+$/m);
    const terminal = new Terminal(place, `decide ${runId.slice(-5)}`);
    await terminal.shows("2  Send it back (back), with a text of 10 to 40 characters");
    await terminal.shows("> ");
    terminal.type("2\r");
    await terminal.shows("What should change? (10 to 40 characters)");
    await terminal.shows("> ");
    terminal.type("no\r");
    await terminal.shows(
      "the text is too short: it has 2 characters, 10 to 40 characters are wanted",
    );
    await terminal.shows("> ");
    terminal.type(`${"x".repeat(41)}\r`);
    await terminal.shows("the text is too long: it has 41 characters");
    await terminal.shows("> ");
    terminal.type("more tests, please\r");
    await terminal.shows("decided int_");
    expect(await terminal.exitCode()).toBe(0);
    const { stdout } = await runCli(place, "watch", runId);
    expect(stdout).toContain('"comment": "more tests, please"');
  });

  test("that was made meanwhile is told with what was decided", async () => {
    const runId = await waiting();
    const slow = new Terminal(place, `decide ${runId}`);
    await slow.shows("> ");
    const quick = new Terminal(place, `decide ${runId}`);
    await quick.shows("> ");
    quick.type("1\r");
    expect(await quick.exitCode()).toBe(0);
    slow.type("2\r");
    await slow.shows("> ");
    slow.type("more tests, please\r");
    await slow.shows("was decided meanwhile: Ship it (by cli)");
    expect(await slow.exitCode()).toBe(3);
  });

  test("is shown once by start --wait, and named to whoever leaves it open", async () => {
    const terminal = new Terminal(place, "start decision.workflow.ts --wait");
    await terminal.shows("> ");
    terminal.type(CTRL_D);
    await terminal.shows("the run waits for a person's decision (");
    await terminal.shows("pi-workflows decide int_");
    expect(await terminal.exitCode()).toBe(16);
    expect(terminal.text.split("release manager")).toHaveLength(2);
    expect(terminal.text.split("Ship it (ship)")).toHaveLength(2);
  });

  test("is named to whoever leaves watch with Ctrl-C", async () => {
    const runId = await waiting();
    const terminal = new Terminal(place, `watch ${runId}`);
    await terminal.shows("pi-workflows decide int_");
    terminal.type(CTRL_C);
    await terminal.shows("the run waits for a person's decision (");
    expect(await terminal.exitCode()).toBe(16);
  });

  test("is not answered as a question, and says so", async () => {
    const runId = await waiting();
    const terminal = new Terminal(place, `answer ${runId}`);
    await terminal.shows("is a decision, no question; its command is: pi-workflows decide int_");
    expect(await terminal.exitCode()).toBe(3);
  });
});
