/**
 * The host under fire: `dist/host.cjs` in a package of its own, whose workers are
 * real ones with a saboteur at their stream, and a clean client beside.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import type { Client, Transport } from "@connectrpc/connect";
import { buildSync } from "esbuild";
import { openHostLink } from "../../src/client/transport.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { SessionService } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { SCHEMA_FILES } from "../../src/host/store/schema.ts";

const ROOT = join(import.meta.dirname, "../..");
const WORKFLOWS = ["tours", "confers"];
const READY_MS = 60_000;
/** Must be in no line of the log: it is in every payload. */
export const CANARY = "canary-7f3a";
const ANSWER_MS_MAX = 1_000;
const CHANCES = 5;
const MIB = 1_048_576;
/** What a host may hold beside what it held at first. */
const GROWTH_BYTES_MAX = 192 * MIB;

export interface Clients {
  readonly host: Client<typeof HostService>;
  readonly runs: Client<typeof RunService>;
  readonly interactions: Client<typeof InteractionService>;
  readonly effects: Client<typeof EffectService>;
  readonly sessions: Client<typeof SessionService>;
}

export function clientsOf(transport: Transport): Clients {
  return {
    host: createClient(HostService, transport),
    runs: createClient(RunService, transport),
    interactions: createClient(InteractionService, transport),
    effects: createClient(EffectService, transport),
    sessions: createClient(SessionService, transport),
  };
}

export class Target {
  readonly folder: string;
  readonly socket: string;
  readonly clean: Clients;
  /** What the next worker does to its stream; see hostile-worker.ts. */
  readonly orders: string;
  /** Longest time a clean client waited. */
  slowestMs = 0;
  mostBytes = 0;
  readonly #child: ChildProcess;
  readonly #state: string;
  readonly #closeLink: () => void;
  #firstBytes = 0;
  #logRead = 0;

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.#child = child;
    this.#state = join(folder, "state");
    this.socket = join(this.#state, "host.sock");
    this.orders = join(folder, "orders");
    const link = openHostLink({ socketPath: this.socket });
    this.clean = clientsOf(link.transport);
    this.#closeLink = () => link.close();
  }

  static async start(): Promise<Target> {
    const folder = mkdtempSync(join(tmpdir(), "fz-"));
    const program = buildPackage(folder);
    const child = spawn(process.execPath, [program], {
      cwd: folder,
      stdio: "ignore",
      env: {
        ...process.env,
        PI_WORKFLOWS_HOME: join(folder, "state"),
        PI_CODING_AGENT_DIR: join(folder, "agent"),
        // The worker that takes an order is the one that is started for it.
        PI_WORKFLOWS_SPARES: "0",
        FUZZ_ORDERS: join(folder, "orders"),
        FUZZ_WORKER: join(ROOT, "dist/worker.cjs"),
      },
    });
    process.once("exit", () => child.kill("SIGKILL"));
    const target = new Target(folder, child);
    const described = join(folder, "state/host.json");
    const until = Date.now() + READY_MS;
    while (!existsSync(described)) {
      if (child.exitCode !== null || Date.now() > until) throw new Error("no host came up");
      await sleep(10);
    }
    return target;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** From now on this is what the host may hold, and a little more. */
  async settle(): Promise<void> {
    const { residentBytes } = await this.clean.host.getStatus({});
    this.#firstBytes = Number(residentBytes);
  }

  /** What is wrong with the host, in words. */
  async ailments(): Promise<readonly string[]> {
    // A connection is reset before the end of the process behind it is told.
    const alive = await this.clean.host.getStatus({}).catch(() => undefined);
    if (alive === undefined) await Promise.race([once(this.#child, "exit"), sleep(ANSWER_MS_MAX)]);
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) {
      return [`the host ended with ${exitCode ?? signalCode}`, ...this.#logAilments()];
    }
    const slow = await this.#answersSlowly();
    const { residentBytes } = await this.clean.host.getStatus({});
    this.mostBytes = Math.max(this.mostBytes, Number(residentBytes));
    const grown = Number(residentBytes) - this.#firstBytes;
    const { findings } = await this.clean.host.diagnose({});
    return [
      ...(slow === undefined ? [] : [slow]),
      ...(grown > GROWTH_BYTES_MAX ? [`the host has grown by ${Math.round(grown / MIB)} MiB`] : []),
      ...findings.map(({ invariant, message }) => `diagnose: ${invariant}: ${message}`),
      ...this.#logAilments(),
    ];
  }

  /** Whether the log knows the number that a caller was told. */
  logHas(text: string): boolean {
    return this.#log().includes(text);
  }

  async stop(): Promise<void> {
    this.#closeLink();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGTERM");
      await once(this.#child, "exit");
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A machine that does much else is given more chances, not more time. */
  async #answersSlowly(): Promise<string | undefined> {
    let ms = 0;
    for (let chance = 0; chance < CHANCES; chance += 1) {
      const start = performance.now();
      await this.clean.host.getStatus({});
      ms = performance.now() - start;
      if (ms < ANSWER_MS_MAX) break;
    }
    this.slowestMs = Math.max(this.slowestMs, ms);
    return ms < ANSWER_MS_MAX ? undefined : `a clean client waited ${Math.round(ms)} ms`;
  }

  #logAilments(): readonly string[] {
    const log = this.#log();
    const lines = log.slice(this.#logRead).split("\n");
    this.#logRead = log.length;
    return lines.filter((line) => line !== "").flatMap(lineAilments);
  }

  #log(): string {
    return readFileSync(join(this.#state, "host.log"), "utf8");
  }
}

function lineAilments(line: string): readonly string[] {
  const shown = line.slice(0, 600);
  if (line.includes(CANARY)) return [`the log holds a payload: ${shown}`];
  // A worker that was sabotaged before it said hello; the log says so, as it should.
  if (line.includes('"name":"SpawnFailed"')) return [];
  if (/"level":"error"/.test(line)) return [`the log has an error: ${shown}`];
  return /"stack":|\\n {4}at /.test(line) ? [`the log holds a stack: ${shown}`] : [];
}

/** The package as it is shipped, but for the program of its workers. Its workflows are found by name. */
function buildPackage(folder: string): string {
  for (const name of ["dist", "workflows"])
    mkdirSync(join(folder, "package", name), { recursive: true });
  const place = (name: string): string => join(folder, "package", name);
  cpSync(join(ROOT, "package.json"), place("package.json"));
  symlinkSync(join(ROOT, "node_modules"), place("node_modules"));
  for (const name of ["host.cjs", ...SCHEMA_FILES]) {
    cpSync(join(ROOT, "dist", name), place(`dist/${name}`));
  }
  buildSync({
    entryPoints: [join(import.meta.dirname, "hostile-worker.ts")],
    outfile: place("dist/worker.cjs"),
    bundle: true,
    platform: "node",
    target: "node22.19",
    logLevel: "warning",
  });
  for (const name of WORKFLOWS) {
    const file = `${name}.workflow.mjs`;
    cpSync(join(ROOT, "test/fixtures/workflows", file), place(`workflows/${file}`));
  }
  return place("dist/host.cjs");
}
