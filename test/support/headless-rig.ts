/** The host's keeper of headless Pis over a real store, with processes that only look like Pi. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { HeadlessPis } from "../../src/host/headless/headless-pis.ts";
import { openTurn } from "../../src/host/operations/turns.ts";
import type { HostContext } from "../../src/host/context.ts";
import type { ModelRecord } from "../../src/host/records-sessions.ts";
import { SessionHub } from "../../src/host/sessions/hub.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import { memoryLog } from "./memory-log.ts";
import { AGENT } from "./session-scenes.ts";
import { TestRig } from "./test-host.ts";
import { temporaryFolder } from "./test-store.ts";

const FAKE_PI = join(import.meta.dirname, "../fixtures/children/fake-pi.ts");

/** How one process was started. */
export interface FakeStart {
  readonly pid: number;
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type FakeAct =
  | "stay"
  | "die"
  | "flood"
  | "dialog"
  | "stubborn"
  | "no-model"
  | "no-extension";

export class HeadlessRig {
  readonly rig = new TestRig();
  readonly folder = temporaryFolder();
  readonly project = join(this.folder, "project");
  readonly host: HostContext;
  readonly hub: SessionHub;
  readonly pis: HeadlessPis;
  readonly storeTag: string;

  constructor(places = 2) {
    const started = join(this.folder, "started");
    for (const folder of [this.project, started, join(this.folder, "sessions")]) mkdirSync(folder);
    vi.stubEnv("FAKE_PI_FOLDER", started);
    vi.stubEnv("PI_CODING_AGENT_DIR", join(this.folder, "agent"));
    this.rig.at.clock.setWall(systemClock.now());
    this.host = { ...this.rig.host, clock: systemClock, log: memoryLog().log };
    this.hub = new SessionHub(this.host, (sessionId) => this.pis.mayShow(sessionId));
    this.storeTag = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
    this.pis = new HeadlessPis({
      host: this.host,
      sessions: this.hub,
      storeTag: this.storeTag,
      paths: { folder: this.folder, piSessionsDir: join(this.folder, "sessions") },
      settings: { headlessPis: places, piCommand: this.#program() },
    });
    this.hub.start();
    this.pis.start();
    onTestFinished(async () => {
      await this.pis.stop();
      await this.hub.stop();
      expect(this.processes(), "processes left").toEqual([]);
    });
  }

  /** A headless run that waits for its model. */
  async asks(act: FakeAct = "stay"): Promise<{ runId: string; interactionId: string }> {
    const model: ModelRecord = { provider: "", model: "", args: ["--fake", act] };
    const worker = await this.rig.running("think", { projectDir: this.project, model });
    const interactionId = await worker.ask(AGENT);
    await this.rig.exit(worker.proof.workerId);
    return { runId: worker.runId, interactionId };
  }

  /** All starts so far that got as far as to tell. */
  get starts(): readonly FakeStart[] {
    const folder = join(this.folder, "started");
    return readdirSync(folder)
      .filter((name) => name.startsWith("start-"))
      .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as FakeStart);
  }

  /** The start of a run's Pi, once it has told of it. */
  async startOf(runId: string): Promise<FakeStart> {
    return await this.see(() => this.starts.findLast(({ args }) => args.includes(`wf-${runId}`)));
  }

  /** What the extension inside would do first. */
  async attach(runId: string): Promise<void> {
    const { pid, cwd, env } = await this.startOf(runId);
    const secret = env["PI_WORKFLOWS_SESSION_SECRET"] ?? "";
    const facts = { sessionId: `wf-${runId}`, cwd, sessionFile: "", mode: "rpc", pid };
    const attachment = await this.hub.attach({ ...facts, takeOver: false, secret });
    expect(attachment.holder).toBe(true);
  }

  /** A model turn of the run begins. */
  async opensTurn(runId: string): Promise<string> {
    const message = await this.see(() =>
      this.rig.reader.messages.ofRun(runId, 10).findLast(({ status }) => status === "offered"),
    );
    await openTurn(this.host, { sessionId: `wf-${runId}`, messageId: message.messageId });
    return message.messageId;
  }

  told(file: "answers" | "child"): string | undefined {
    const path = join(this.folder, "started", file);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  /** Everything that descends from a Pi of this rig. */
  processes(): readonly number[] {
    return taggedProcesses(this.storeTag).map(({ pid }) => pid);
  }

  async see<T>(look: () => T | undefined): Promise<T> {
    return await vi.waitFor(
      () => {
        const seen = look();
        if (seen === undefined) throw new Error("not yet");
        return seen;
      },
      { timeout: 12_000, interval: 10 },
    );
  }

  /** A wrapper, as version managers put one on the path. */
  #program(): string {
    const file = join(this.folder, "pi");
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${FAKE_PI}' "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  }
}
