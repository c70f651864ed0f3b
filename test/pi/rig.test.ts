/** The rig itself: what the tests of the extension rely on, proven with an extension of five things. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startMockModel } from "../support/pi/mock-model.ts";
import type { MockModel } from "../support/pi/mock-model.ts";
import { extensionErrors, processesOf } from "../support/pi/pi-process-check.ts";
import { newPiProfile } from "../support/pi/pi-profile.ts";
import type { PiProfile, PiProfileOptions } from "../support/pi/pi-profile.ts";
import { CANCEL, startPi } from "../support/pi/pi-rpc.ts";
import type { Pi, PiOptions } from "../support/pi/pi-rpc.ts";
import { readStateHost } from "../support/pi/state-host.ts";
import { until } from "../support/pi/until.ts";

const HOST = join(import.meta.dirname, "../../dist/host.cjs");
const EXTENSION = join(import.meta.dirname, "../fixtures/pi-extensions/rig.ts");

interface Rig {
  readonly model: MockModel;
  readonly profile: PiProfile;
  readonly pi: Pi;
}

async function rig(
  options: Partial<PiOptions> & Partial<Pick<PiProfileOptions, "settings">> = {},
): Promise<Rig> {
  const model = await startMockModel();
  const { settings = {}, ...rest } = options;
  const profile = newPiProfile({ model, settings });
  const pi = await startPi({ profile, extensions: [EXTENSION], ...rest });
  return { model, profile, pi };
}

/** Texts of the assistant on the active branch. */
async function answers(pi: Pi): Promise<readonly string[]> {
  const branch = await pi.branch();
  return branch.flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "assistant") return [];
    return entry.message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  });
}

test("a prompt settles, and the model was shown it", async () => {
  const { model, pi } = await rig();
  expect((await pi.ask("hello")).aborted).toBe(false);
  expect(await answers(pi)).toEqual(["echo: hello"]);
  expect(model.requests).toHaveLength(1);
  expect(model.requests[0]?.lastUserText).toBe("hello");
  expect(model.requests[0]?.tools).toContain("rig_echo");
});

test("an extension shows a status and a widget, and its types come from Pi's own copies", async () => {
  const { pi } = await rig();
  expect(pi.status("rig")).toBe("rig startup");
  expect(pi.widget("rig")).toEqual(["rig widget in rpc"]);
});

test("a directive in the prompt calls a tool and goes on with its result", async () => {
  const { model, pi } = await rig();
  const steps = [{ text: "I call.", tool: "rig_echo", args: { text: "a b" } }, "done"];
  await pi.ask(`#mock ${JSON.stringify(steps)}`);
  expect(await answers(pi)).toEqual(["I call.", "done"]);
  expect(pi.all("tool_execution_end")).toMatchObject([{ toolName: "rig_echo", isError: false }]);
  expect(model.requests[1]?.last).toMatchObject({ role: "tool", text: "a b" });
});

test("a test decides by content, and calls several tools in one answer", async () => {
  const { model, pi } = await rig();
  model.respond(({ last }) => {
    if (last.role === "tool") return `got ${last.text}`;
    const id = /id=(\w+)/.exec(last.text)?.[1];
    const call = { tool: "rig_echo", args: { text: id } };
    return id === undefined ? undefined : { calls: [call, call] };
  });
  await pi.ask("the step id=int_7");
  await pi.ask("and now?");
  expect(await answers(pi)).toEqual(["got int_7", "echo: and now?"]);
  expect(pi.all("tool_execution_end")).toHaveLength(2);
});

test("wrong arguments come back to the model as an error of the tool", async () => {
  const { model, pi } = await rig();
  await pi.ask('#mock [{"tool":"rig_echo","args":{"text":[]}},"sorry"]');
  expect(pi.all("tool_execution_end")).toMatchObject([{ isError: true }]);
  expect(model.requests[1]?.last.text).toContain("text");
});

test("a message of an extension starts a turn, and is on the branch once", async () => {
  const { model, pi } = await rig();
  const since = pi.mark();
  expect(await pi.prompt("/wake n1")).toBe("handled");
  await pi.settled(1, { since });
  expect(await pi.customMessages("rig")).toMatchObject([
    { content: "news n1", details: { id: "n1" } },
  ]);
  expect(model.requests[0]?.lastUserText).toBe("news n1");
  await expect(pi.ask("/wake n2")).rejects.toThrow("handled by a command");
});

test("a session reopens by its id after the death of its process", async () => {
  const { model, profile, pi } = await rig({ session: { id: "reopened" } });
  await pi.ask("before");
  const file = (await pi.state()).sessionFile ?? "";
  expect(await pi.kill()).toMatchObject({ signal: "SIGKILL" });
  await expect(pi.state()).rejects.toThrow("Pi ended before get_state");

  const again = await startPi({
    profile,
    extensions: [EXTENSION],
    session: { id: "reopened" },
  });
  expect((await again.state()).sessionFile).toBe(file);
  await again.ask("after");
  expect(await answers(again)).toEqual(["echo: before", "echo: after"]);
  expect(model.requests[1]?.messages.map(({ text }) => text)).toContain("before");
  expect(readFileSync(file, "utf8")).toContain("echo: after");
});

test("a rate limit is tried again as often as the settings say", async () => {
  const { model, pi } = await rig({ settings: { retry: { maxRetries: 2, baseDelayMs: 20 } } });
  model.enqueue({ status: 429, headers: { "retry-after": "0" } });
  await pi.ask('#mock ["at last"]');
  expect(await answers(pi)).toEqual(["at last"]);
  expect(pi.all("auto_retry_start")).toHaveLength(1);
  expect(model.queued).toBe(0);
});

test("a limit that lasts ends the run without another try when retries are off", async () => {
  const { model, pi } = await rig({ settings: { retry: { enabled: false } } });
  model.respond(() => ({ status: 429, headers: { "retry-after": "30" } }));
  expect((await pi.ask("hello")).aborted).toBe(false);
  const branch = await pi.branch();
  const last = branch.at(-1);
  expect(last).toMatchObject({ type: "message", message: { role: "assistant" } });
  expect(JSON.stringify(last)).toContain("429");
  expect(model.requests).toHaveLength(1);
});

test("a connection that breaks is tried again", async () => {
  const { model, pi } = await rig();
  model.enqueue({ text: "half an ans", cut: true });
  await pi.ask('#mock ["a whole answer"]');
  expect(await answers(pi)).toEqual(["half an ans", "a whole answer"]);
  expect(model.requests).toHaveLength(2);
});

test("a held answer lets the test act in the middle of a turn", async () => {
  const { model, pi } = await rig();
  const since = pi.mark();
  await pi.prompt('#mock [{"text":"one","hold":"middle"}]');
  await model.held("middle");
  expect((await pi.state()).isStreaming).toBe(true);
  expect(await pi.prompt("more")).toBe("queued");
  expect(pi.all("agent_settled", since)).toEqual([]);
  model.release("middle");
  await pi.settled(1, { since });
  expect(await answers(pi)).toEqual(["one", "echo: more"]);
});

test("the Escape key ends a held answer", async () => {
  const { model, pi } = await rig();
  const since = pi.mark();
  await pi.prompt('#mock [{"hold":"for ever"}]');
  const request = await model.held("for ever");
  await pi.escape();
  expect((await pi.settled(1, { since })).aborted).toBe(true);
  await until(() => request.heldAt === undefined, { what: () => "the end of the held answer" });
});

test("a compaction can be held like any other answer", async () => {
  const { model, pi } = await rig({ settings: { compaction: { keepRecentTokens: 1 } } });
  await pi.ask("first");
  await pi.ask("second");
  model.enqueue({ text: "the summary", hold: "summary" });
  const compacted = pi.call("compact", {});
  await model.held("summary");
  expect((await pi.state()).isCompacting).toBe(true);
  model.release("summary");
  expect((await compacted).summary).toContain("the summary");
  await pi.ask("third");
  expect(
    model.requests
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join(),
  ).toContain("the summary");
});

test("dialogs are answered one by one, or by a rule", async () => {
  const { pi } = await rig();
  const since = pi.mark();
  await pi.prompt('#mock [{"tool":"rig_ask","args":{"question":"Where?"}},"fine"]');
  const dialog = await pi.dialog();
  expect(dialog).toMatchObject({ method: "select", title: "Where?", options: ["left", "right"] });
  pi.answer(dialog, "right");
  await pi.settled(1, { since });
  expect(pi.all("tool_execution_end")).toMatchObject([
    { result: { content: [{ text: "chosen: right" }] } },
  ]);

  pi.answerDialogs(
    ({ method }) => ({ confirm: true, input: "Ada", select: CANCEL, editor: "" })[method],
  );
  await pi.prompt("/confirm");
  expect(pi.notifications()).toEqual(["true Ada undefined"]);
});

test("calls fail with what Pi said when it ends", async () => {
  const { profile } = await rig();
  const start = startPi({
    profile,
    extensions: [join(profile.folder, "missing.ts")],
    cleanUp: () => undefined,
  });
  await expect(start).rejects.toThrow(/Pi ended before .* code 1.*missing\.ts/s);
});

test("an extension that fails is not overlooked", async () => {
  const { pi } = await rig();
  await pi.prompt("/break");
  await pi.waitFor("extension_error", ({ error }) => error.includes("broken on purpose"));
  expect(extensionErrors(pi.log)).toHaveLength(1);
  await expect(pi.quit()).rejects.toThrow("extension errors");
});

test("a process that a test leaves behind is found and ended", async () => {
  const { model } = await rig();
  const ends: (() => Promise<void> | void)[] = [];
  const profile = newPiProfile({ model, cleanUp: (end) => ends.push(end) });
  const child = spawn("sleep", ["600"], { env: profile.env, detached: true, stdio: "ignore" });
  const exited = new Promise((resolve) => void child.once("exit", (...how) => resolve(how)));
  await until(() => processesOf(profile.folder).some(({ pid }) => pid === child.pid), {
    what: () => "the process in the table",
  });
  await expect(ends[0]?.()).rejects.toThrow("sleep 600");
  expect(await exited).toEqual([null, "SIGKILL"]);
  expect(existsSync(profile.folder)).toBe(false);
});

test("a host that nobody has stopped is stopped in order with its profile", async () => {
  const { model } = await rig();
  const ends: (() => Promise<void> | void)[] = [];
  const profile = newPiProfile({ model, cleanUp: (end) => ends.push(end) });
  profile.setHostSettings({ capacity: 3 });
  const child = spawn(process.execPath, [HOST], { env: profile.env, cwd: "/", stdio: "ignore" });
  const exited = new Promise((resolve) => void child.once("exit", (...how) => resolve(how)));
  const host = await until(() => readStateHost(profile.stateFolder), { what: () => "the host" });
  expect(host.pid).toBe(child.pid);
  await ends[0]?.();
  expect(await exited).toEqual([0, null]);
  expect(host.running()).toBe(false);
});

test("a profile keeps Pi away from everything outside", async () => {
  const { profile, pi } = await rig();
  await pi.ask("hello");
  const { sessionFile } = await pi.state();
  expect(sessionFile?.startsWith(profile.agentDir)).toBe(true);
  expect(existsSync(join(profile.folder, ".pi"))).toBe(false);
});
