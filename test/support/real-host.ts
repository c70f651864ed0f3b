/**
 * The host as users get it: `dist/host.cjs` in a process of its own, in a state
 * folder of its own. It is ended after the test, and nothing of it may be left.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import type { Client } from "@connectrpc/connect";
import { onTestFinished, vi } from "vitest";
import { openHostLink } from "../../src/client/transport.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";

const ROOT = join(import.meta.dirname, "../..");
export const HOST_ENTRY = join(ROOT, "dist/host.cjs");
/** A busy machine may need so long for what takes a third of a second otherwise. */
const READY_MS = 60_000;

export interface HostExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface RealHost {
  readonly pid: number;
  readonly paths: StatePaths;
  readonly host: Client<typeof HostService>;
  readonly runs: Client<typeof RunService>;
  readonly interactions: Client<typeof InteractionService>;
  readonly effects: Client<typeof EffectService>;
  readonly exited: Promise<HostExit>;
  /** Ends it as a stop of the machine would: SIGTERM, and all of it has to be gone. */
  stop(): Promise<HostExit>;
  /** Ends it without warning. */
  kill(): Promise<HostExit>;
  log(): readonly Readonly<Record<string, unknown>>[];
}

/** Registers what is done after a test; of tests that run at once each has its own. */
export type CleanUp = (run: () => Promise<void> | void) => void;

export interface RealHostOptions {
  /** Where the end of the host is registered; after the test by default. */
  readonly cleanUp?: CleanUp;
  /** A folder of an earlier host; a new one by default. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A folder that is removed after the test, once its host is gone. */
export function newStateFolder(cleanUp: CleanUp = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "h-"));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a host and waits until it listens. */
export async function startRealHost(options: RealHostOptions = {}): Promise<RealHost> {
  const { cleanUp = onTestFinished } = options;
  const folder = options.folder ?? newStateFolder(cleanUp);
  const { child, exited, paths } = launchHost(folder, options.env);
  const host = await withClients({ child, exited, paths }).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  cleanUp(async () => {
    await host.kill();
    await nothingLeft(paths);
  });
  return host;
}

/** Starts a host of which only the end is awaited. */
export function runHost(
  folder: string,
  env: Readonly<Record<string, string>> = {},
  cleanUp: CleanUp = onTestFinished,
): Promise<HostExit> {
  const { child, exited } = launchHost(folder, env);
  cleanUp(() => void child.kill("SIGKILL"));
  return exited;
}

interface Launched {
  readonly child: ChildProcess;
  readonly exited: Promise<HostExit>;
  readonly paths: StatePaths;
}

function launchHost(folder: string, env: Readonly<Record<string, string>> = {}): Launched {
  const child = spawn(process.execPath, [HOST_ENTRY], {
    cwd: "/",
    env: { ...process.env, PI_WORKFLOWS_HOME: folder, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<HostExit>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, stderr }));
  });
  return { child, exited, paths: statePaths({ ...process.env, PI_WORKFLOWS_HOME: folder }) };
}

async function withClients({ child, exited, paths }: Launched): Promise<RealHost> {
  const pid = child.pid ?? 0;
  await Promise.race([
    vi.waitUntil(() => publishedPid(paths) === pid, { timeout: READY_MS, interval: 10 }),
    exited.then(({ code, stderr }) => {
      throw new Error(`the host ended with ${code}: ${stderr}`);
    }),
  ]);
  const link = openHostLink({ socketPath: paths.socket });
  const end = async (signal: NodeJS.Signals): Promise<HostExit> => {
    child.kill(signal);
    const exit = await exited;
    link.close();
    return exit;
  };
  return {
    pid,
    paths,
    exited,
    host: createClient(HostService, link.transport),
    runs: createClient(RunService, link.transport),
    interactions: createClient(InteractionService, link.transport),
    effects: createClient(EffectService, link.transport),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    log: () => readLog(paths),
  };
}

/** Pid of the host that has said where it listens. */
function publishedPid(paths: StatePaths): unknown {
  if (!existsSync(paths.hostFile)) return undefined;
  return (JSON.parse(readFileSync(paths.hostFile, "utf8")) as { pid: unknown }).pid;
}

function readLog(paths: StatePaths): readonly Readonly<Record<string, unknown>>[] {
  const lines = readFileSync(paths.log, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

/** Workers end by themselves when their host is gone. */
async function nothingLeft(paths: StatePaths): Promise<void> {
  const tag = sha256Hex(paths.folder).slice(0, 16);
  await vi.waitUntil(() => taggedProcesses(tag).length === 0, { timeout: READY_MS });
}
