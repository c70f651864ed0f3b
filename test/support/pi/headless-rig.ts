/** Runs without a session, with the real Pi that the host starts for them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { newBridge, submits } from "./bridge-rig.ts";
import type { Bridge, BridgeOptions } from "./bridge-rig.ts";
import { processesOf } from "./pi-process-check.ts";
import type { Process } from "./pi-process-check.ts";
import { until } from "./until.ts";

/** Two steps, of which the second answers with its words. */
export const TWO_STEPS = `
import { agent, assistantMessage, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "two",
  startAt: "draft",
  nodes: {
    draft: agent({ prompt: "Write a draft.", expectedOutput: "a text" }),
    sign: agent({
      prompt: ({ outputs }) => "Sign: " + outputs.draft,
      expectedOutput: assistantMessage(),
    }),
  },
  edges: [{ from: "draft", to: "sign" }],
});
`;

/** A user without an open Pi. */
export async function newHeadless(options: BridgeOptions = {}): Promise<Bridge> {
  return await newBridge({ ...options, pi: "none" });
}

/** Starts a run from the command line; returns its id. */
export async function startRun(
  bridge: Bridge,
  path: string,
  ...args: readonly string[]
): Promise<string> {
  const { code, stdout, stderr } = await bridge.cli("start", path, "--json", ...args);
  if (code !== 0 || stderr !== "") throw new Error(`start ended with ${code}: ${stderr}${stdout}`);
  // The command prints its response.
  const { receipt } = JSON.parse(stdout) as { readonly receipt: { readonly runId: string } };
  return receipt.runId;
}

/** Pis of the profile. Pi writes its name over its command line once it has begun. */
export function pis(bridge: Bridge): readonly Process[] {
  return processesOf(bridge.profile.folder).filter(
    ({ command }) => command.includes("--mode rpc") || /^pi( |$)/.test(command),
  );
}

export async function noPi(bridge: Bridge): Promise<void> {
  await until(() => pis(bridge).length === 0, {
    what: () =>
      `the end of ${pis(bridge)
        .map(({ pid, command }) => `${pid} ${command}`)
        .join(", ")}`,
    timeoutMs: 30_000,
  });
}

/** Processes of the profile whose command line holds this. */
export function running(bridge: Bridge, part: string): readonly Process[] {
  return processesOf(bridge.profile.folder).filter(({ command }) => command.includes(part));
}

export interface LogLine {
  readonly event: string;
  readonly runId?: string;
  readonly pid?: number;
  readonly why?: string;
  readonly reason?: string;
}

/** What the hosts of the profile logged about their Pis. */
export function headlessLog(bridge: Bridge): readonly LogLine[] {
  const text = readFileSync(join(bridge.profile.stateFolder, "host.log"), "utf8");
  const lines = text.trim().split("\n");
  // The host writes one object a line.
  return lines
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ event }) => event.startsWith("headless."));
}

/** Does both steps of `TWO_STEPS`. */
export function worksWell(bridge: Bridge): void {
  const draft = submits("a draft");
  bridge.onStep((step) => (step.text.includes("Sign: a draft") ? "signed" : draft(step)));
}

export function starts(bridge: Bridge): number {
  return headlessLog(bridge).filter(({ event }) => event === "headless.started").length;
}

/** In the user's environment, which is not the one of this process. */
export async function startHost(bridge: Bridge): Promise<void> {
  expect((await bridge.cli("host", "start")).code).toBe(0);
}

/** A start of everything and a model's answer, on a busy machine. */
export async function held(bridge: Bridge, name: string): Promise<void> {
  await until(() => bridge.model.requests.some(({ heldAt }) => heldAt === name), {
    what: () => `an answer held at ${name}`,
    timeoutMs: 60_000,
  });
}
