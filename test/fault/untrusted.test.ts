// Names, ids and paths come from anybody who may connect, and files from anybody whose project one
// looks at: no id becomes a path, and nothing of a project is executed before somebody starts it.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { ValueKind } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import { runCli } from "../support/cli-process.ts";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";

const QUICK = { PI_WORKFLOWS_SPARES: "0" };
const CONTENT = "nobody-may-see-this";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "u-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a call was answered with, as text; a refusal is one of ours, never an internal error. */
async function answerOf(call: Promise<unknown> | AsyncIterable<unknown>): Promise<string> {
  try {
    if (call instanceof Promise) return JSON.stringify(await call, plain);
    const messages: unknown[] = [];
    for await (const message of call) messages.push(message);
    return JSON.stringify(messages, plain);
  } catch (error) {
    const { code, message } = ConnectError.from(error);
    if (code === Code.Internal) throw new Error(`a fault of ours: ${message}`, { cause: error });
    return message;
  }
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/** Every request field that names something, with the text in it. */
function hostileCalls(
  host: RealHost,
  text: string,
): Readonly<Record<string, () => Promise<string>>> {
  const { runs, interactions, effects } = host;
  const command = { requestId: `r ${text.replaceAll("\0", "0").slice(-100)}`, client: text };
  return {
    backup: () => answerOf(host.host.backup({ path: text })),
    diagnose: () => answerOf(host.host.diagnose({ runId: text })),
    log: () => answerOf(runs.readRunLog({ runId: text })),
    run: () => answerOf(runs.getRun({ runId: text })),
    value: () => answerOf(runs.getRunValue({ runId: text, kind: ValueKind.OUTPUT, node: text })),
    list: () => answerOf(runs.listRuns({ workflow: text, projectDir: text, pageToken: text })),
    events: () => answerOf(runs.listEvents({ runId: text })),
    workflow: () =>
      answerOf(runs.startRun({ command, workflow: text, projectDir: host.paths.folder })),
    project: () => answerOf(runs.startRun({ command, workflow: "none", projectDir: text })),
    session: () =>
      answerOf(runs.startRun({ command, workflow: "x", projectDir: "/", originSession: text })),
    restart: () => answerOf(runs.restartRun({ command, runId: text })),
    interaction: () => answerOf(interactions.getInteraction({ interactionId: text })),
    effect: () => answerOf(effects.listEffects({ runId: text, pageToken: text })),
  };
}

describe("a name that is a way out of the state folder", () => {
  test("is compared with rows and never walked, in any field of any request", async () => {
    const host = await startRealHost({ env: QUICK });
    const outside = newFolder();
    const secret = join(outside, "secret.out");
    writeFileSync(secret, CONTENT);
    symlinkSync(join(outside, "made-by-a-link"), join(host.paths.folder, "dangling"));
    // As it would have to be called to be taken for the output of a worker or a session of a run.
    const up = `../..${outside}`;
    const texts = [
      `${up}/secret`,
      `wrk_/../../..${outside}/secret`,
      `run_/../../..${outside}`,
      `..%2f..%2f${outside}`,
      secret,
      `${secret}\0.db`,
      join(host.paths.folder, "dangling"),
      join(host.paths.folder, "host.db"),
      `${host.paths.workersDir}/../../${"x/".repeat(40)}`,
      "/proc/self/environ",
      "file:///etc/passwd",
    ];
    const before = readdirSync(host.paths.folder).toSorted();
    for (const text of texts) {
      for (const [field, call] of Object.entries(hostileCalls(host, text))) {
        expect(await call(), `${field} = ${text}`).not.toContain(CONTENT);
      }
    }
    expect(readdirSync(outside)).toEqual(["secret.out"]);
    expect(readFileSync(secret, "utf8")).toBe(CONTENT);
    expect(readdirSync(host.paths.folder).toSorted()).toEqual(before);
    expect((await host.host.diagnose({})).findings).toEqual([]);
    expect(host.log().filter(({ level }) => level === "error")).toEqual([]);
  });

  test("is where a backup goes only when nothing is there yet", async () => {
    const host = await startRealHost({ env: QUICK });
    const outside = newFolder();
    await host.host.backup({ path: join(outside, "copy.db") });
    const refused = await answerOf(host.host.backup({ path: join(outside, "copy.db") }));
    expect(refused).toContain("a backup needs a new file");
  });
});

describe("a project of somebody else", () => {
  const MARK = "evaluated";

  function untrusted(): { readonly project: string; readonly marks: () => boolean } {
    const project = newFolder();
    const mark = join(project, MARK);
    mkdirSync(join(project, ".pi/workflows"), { recursive: true });
    const code = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(mark)}, "");\n`;
    writeFileSync(join(project, ".pi/workflows/evil.workflow.mjs"), code);
    return { project, marks: () => existsSync(mark) };
  }

  test("has its workflows listed and completed without one of them being evaluated", async () => {
    const { project, marks } = untrusted();
    const paths = statePaths({ PI_WORKFLOWS_HOME: join(newFolder(), "state") });
    mkdirSync(paths.folder, { mode: 0o700 });
    for (const [tells, ...args] of [
      [true, "workflows"],
      [true, "workflows", "--json"],
      [true, "completion", "words", "workflow"],
      [false, "completion", "bash"],
      [false, "start", "evli", "--help"],
    ] as const) {
      const { code, stdout } = await runCli({ paths, cwd: project }, ...args);
      expect({ args, code }).toEqual({ args, code: 0 });
      expect({ args, told: stdout.includes("evil") }).toEqual({ args, told: tells });
      expect(marks()).toBe(false);
    }
    // Nor did anybody start a host for it.
    expect(readdirSync(paths.folder)).toEqual([]);
  });

  test("is evaluated when somebody asks for it by name", async () => {
    const { project, marks } = untrusted();
    const host = await startRealHost({ env: QUICK });
    await runCli({ paths: host.paths, cwd: project }, "validate", "evil");
    expect(marks()).toBe(true);
  });
});
