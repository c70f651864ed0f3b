/**
 * Everything of one user: real Pi with the built extension, a scripted model, the
 * host that the extension starts, and a client that looks at that host. A test
 * ends with a diagnosis that finds nothing.
 */
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { connectHost } from "../../../src/client/host-client.ts";
import type { HostClient } from "../../../src/client/host-client.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary, RunView } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { statePaths } from "../../../src/platform/state-folder.ts";
import type { StatePaths } from "../../../src/platform/state-folder.ts";
import type { MessageDetails } from "../../../src/extension/message-details.ts";
import { runCli } from "../cli-process.ts";
import type { CliEnd } from "../cli-process.ts";
import { startMockModel } from "./mock-model.ts";
import type { MockModel, MockStep } from "./mock-model.ts";
import type { ModelRequest } from "./model-request.ts";
import { newPiProfile } from "./pi-profile.ts";
import type { PiProfile, PiProfileOptions } from "./pi-profile.ts";
import { startPi } from "./pi-rpc.ts";
import type { CustomMessage, Pi, PiOptions } from "./pi-rpc.ts";
import { readStateHost } from "./state-host.ts";
import type { StateHost } from "./state-host.ts";
import { until } from "./until.ts";

const ROOT = join(import.meta.dirname, "../../..");
export const EXTENSION = join(ROOT, "dist/extension/index.js");
const HOST_ENTRY = join(ROOT, "dist/host.cjs");

/** One of our messages on the branch. */
export type Shown = CustomMessage & { readonly details: MessageDetails };

/** What the model does when it is shown a step; `number` counts the requests since that text. */
export type OnStep = (step: {
  readonly interactionId: string;
  readonly text: string;
  readonly answersSince: number;
  readonly last: ModelRequest["last"];
}) => MockStep | string | undefined;

export interface BridgeOptions {
  readonly settings?: PiProfileOptions["settings"];
  readonly hostSettings?: PiProfileOptions["hostSettings"];
  readonly pi?: Partial<PiOptions> | "none";
  /** Whether Pi has stored that the project is trusted; it has, unless there is no Pi. */
  readonly trusted?: boolean;
}

export class Bridge {
  readonly model: MockModel;
  readonly profile: PiProfile;
  readonly paths: StatePaths;
  #client: HostClient | undefined;
  #onStep: OnStep | undefined;

  constructor(model: MockModel, profile: PiProfile) {
    this.model = model;
    this.profile = profile;
    this.paths = statePaths(profile.env);
    model.respond((request) => this.#respond(request));
  }

  /** A Pi of this user, with the extension, in the session named or a new one. */
  async startPi(options: Partial<PiOptions> = {}): Promise<Pi> {
    return await startPi({ profile: this.profile, extensions: [EXTENSION], ...options });
  }

  /** What the model does with steps from now on; everything else it echoes. */
  onStep(onStep: OnStep): void {
    this.#onStep = onStep;
  }

  /** Writes a workflow and returns its path. */
  workflow(name: string, source: string): string {
    return this.profile.writeProjectFile(`${name}.workflow.ts`, source);
  }

  /** The user lets the model start it; returns the id of the run. */
  async start(pi: Pi, path: string, input?: unknown): Promise<string> {
    const before = new Set((await this.runs()).map(({ runId }) => runId));
    const args = { action: "start", workflow: path, ...(input === undefined ? {} : { input }) };
    await pi.prompt(`#mock ${JSON.stringify([{ tool: "workflow", args }, "started"])}`);
    return await until(
      async () => (await this.runs()).find(({ runId }) => !before.has(runId))?.runId,
      { what: () => `a run of ${path}` },
    );
  }

  /** The user lets the model start several at once; returns the ids of the runs, in order. */
  async startAll(pi: Pi, paths: readonly string[]): Promise<readonly string[]> {
    const calls = paths.map((workflow) => ({
      tool: "workflow",
      args: { action: "start", workflow },
    }));
    await pi.prompt(`#mock ${JSON.stringify([{ calls }, "started"])}`);
    return await until(
      async () => {
        const runs = await this.runs();
        return runs.length === paths.length ? runs.map(({ runId }) => runId) : undefined;
      },
      { what: () => `${paths.length} runs` },
    );
  }

  async client(): Promise<HostClient> {
    this.#client ??= await connectHost({
      paths: this.paths,
      startHost: true,
      hostEntry: HOST_ENTRY,
    });
    return this.#client;
  }

  /** All runs, the oldest first. */
  async runs(): Promise<readonly RunSummary[]> {
    const client = await this.client();
    const { runs } = await client.call((host) => host.runs.listRuns({}));
    return runs.toReversed();
  }

  async view(runId: string): Promise<RunView> {
    const client = await this.client();
    const { run } = await client.call((host) => host.runs.getRun({ runId }));
    if (run === undefined) throw new Error(`no view of ${runId}`);
    return run;
  }

  /** Waits until the run has this status; returns its view. */
  async reaches(runId: string, status: RunStatus, timeoutMs = 30_000): Promise<RunView> {
    let seen: RunView | undefined;
    return await until(
      async () => {
        seen = await this.view(runId);
        return seen.summary?.status === status ? seen : undefined;
      },
      { what: () => `run ${runId} as ${status}; it is ${JSON.stringify(lineOf(seen))}`, timeoutMs },
    );
  }

  /** Our messages on the active branch, in order. */
  async shown(pi: Pi, kind?: MessageDetails["kind"]): Promise<readonly Shown[]> {
    // The extension writes these details.
    const messages = (await pi.customMessages("workflow")) as readonly Shown[];
    return kind === undefined ? messages : messages.filter(({ details }) => details.kind === kind);
  }

  /** Waits until no turn runs any more. */
  async idle(pi: Pi): Promise<void> {
    await until(async () => !(await pi.state()).isStreaming, { what: () => "the end of the turn" });
  }

  /** Waits until so many of our messages of a kind stand on the branch. */
  async shows(pi: Pi, kind: MessageDetails["kind"], count = 1): Promise<readonly Shown[]> {
    return await until(
      async () => {
        const shown = await this.shown(pi, kind);
        return shown.length >= count ? shown : undefined;
      },
      { what: () => `${count} ${kind} in the session`, timeoutMs: 30_000 },
    );
  }

  async cli(...args: readonly string[]): Promise<CliEnd> {
    return await this.cliWith({}, ...args);
  }

  /** The same with more in its environment, which a host that it starts inherits. */
  async cliWith(
    env: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ): Promise<CliEnd> {
    const { profile, paths } = this;
    const options = { paths, env: { ...profile.env, ...env }, cwd: profile.project };
    return await runCli(options, ...args);
  }

  host(): StateHost {
    const host = readStateHost(this.profile.stateFolder);
    if (host === undefined) throw new Error("no host runs");
    return host;
  }

  /** The host that serves after the present one was killed. */
  async killHost(): Promise<void> {
    await this.host().kill();
  }

  /** Nothing contradicts itself. */
  async expectSound(): Promise<void> {
    const client = await this.client();
    const { findings } = await client.call((host) => host.host.diagnose({}));
    expect(findings).toEqual([]);
  }

  close(): void {
    this.#client?.close();
  }

  #respond(request: ModelRequest): MockStep | string | undefined {
    const { lastUserText: text, answersSince, last } = request;
    // The text of a step whose answer is the model's own next words holds no id.
    const isStep = text.includes("How to finish this step");
    const interactionId = /\bint_[0-9a-z]+/.exec(text)?.[0] ?? "";
    if ((interactionId === "" && !isStep) || this.#onStep === undefined) return undefined;
    return this.#onStep({ interactionId, text, answersSince, last });
  }
}

/** A user with a Pi, unless the test wants none yet. */
export async function startBridge(
  options: BridgeOptions = {},
): Promise<{ readonly bridge: Bridge; readonly pi: Pi }> {
  const bridge = await newBridge(options);
  const pi = await bridge.startPi(options.pi === "none" ? {} : options.pi);
  return { bridge, pi };
}

export async function newBridge(options: BridgeOptions = {}): Promise<Bridge> {
  const model = await startMockModel();
  const { settings, hostSettings } = options;
  const profile = newPiProfile({
    model,
    ...(settings === undefined ? {} : { settings }),
    ...(hostSettings === undefined ? {} : { hostSettings }),
  });
  // The user has trusted the project, so the model's starts ask nobody.
  if (options.trusted ?? options.pi !== "none") profile.trustProject();
  const bridge = new Bridge(model, profile);
  onTestFinished(async () => {
    try {
      if (readStateHost(profile.stateFolder) !== undefined) await bridge.expectSound();
    } finally {
      bridge.close();
    }
  });
  return bridge;
}

/** Submits once; what comes after the tool's result is a word. */
export function submits(value: unknown): OnStep {
  return ({ interactionId, last }) =>
    last.role === "tool"
      ? "Done."
      : { tool: "workflow", args: { action: "submit", interaction: interactionId, value } };
}

function lineOf(view: RunView | undefined): unknown {
  const { summary } = view ?? {};
  if (summary === undefined) return "unknown";
  const { node, detail, interactionId } = summary;
  const status = Object.entries(RunStatus).find(([, value]) => value === summary.status)?.[0];
  return { status, node, detail, interactionId };
}
