/**
 * A client that outlives hosts: what was not answered is asked again under the
 * same key, of the next host of the same state folder, as any client of ours does.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { valueJson } from "../../src/client/json-value.ts";
import { isHostGone } from "../../src/client/rejection.ts";
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import type { Receipt } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import type { Event, RunView } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { crashMark } from "../../src/platform/crash-points.ts";
import { newStateFolder, startRealHost } from "./real-host.ts";
import type { CleanUp, RealHost } from "./real-host.ts";

export interface VoyageOptions {
  readonly cleanUp: CleanUp;
  /** State folder of all hosts; a new one by default. */
  readonly state?: string;
  /** Directory of the runs; a new one by default. */
  readonly project?: string;
  /** More hosts than this in a row mean that none of them can live; 6 by default. */
  readonly hostsMax?: number;
  /** Environment of the n-th host, counted from 1. */
  readonly env?: (host: number, voyage: Voyage) => Readonly<Record<string, string>>;
}

const HOSTS_MAX = 6;
/** What must happen does so within this time, also on a machine that does much else. */
export const PATIENCE_MS = 60_000;

type Commanded = (
  host: RealHost,
  command: { readonly requestId: string; readonly client: string },
) => Promise<{ readonly receipt?: Receipt | undefined }>;

interface Given {
  readonly perform: Commanded;
  readonly receipt: Receipt;
}

export class Voyage {
  /** State folder of all hosts. */
  readonly state: string;
  /** Directory of the runs, and their outside world. */
  readonly project: string;
  readonly #options: VoyageOptions;
  readonly #given = new Map<string, Given>();
  #host: RealHost | undefined;
  #starting: Promise<RealHost> | undefined;
  #hosts = 0;

  constructor(options: VoyageOptions) {
    this.#options = options;
    this.project = options.project ?? newProject(options.cleanUp);
    this.state = options.state ?? newStateFolder(options.cleanUp);
  }

  /** The host of this moment; the next one when the last has died. */
  async host(): Promise<RealHost> {
    if (this.#host !== undefined) return this.#host;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<RealHost> {
    const { cleanUp, env, hostsMax = HOSTS_MAX } = this.#options;
    while (this.#hosts < hostsMax) {
      this.#hosts += 1;
      const settings = { PI_WORKFLOWS_SPARES: "0", ...env?.(this.#hosts, this) };
      const options = { cleanUp, folder: this.state, env: settings };
      this.#host = await startRealHost(options).catch(diedEarly);
      if (this.#host !== undefined) return this.#host;
    }
    throw new Error(`${hostsMax} hosts died`);
  }

  /** Asks until a host has answered. */
  async ask<T>(call: (host: RealHost) => Promise<T>): Promise<T> {
    for (;;) {
      const host = await this.host();
      try {
        return await call(host);
      } catch (error) {
        if (!isHostGone(error)) throw error;
        await host.exited;
        if (this.#host === host) this.#host = undefined;
      }
    }
  }

  /** A command under its own key, repeated until it is answered. */
  async command(key: string, perform: Commanded): Promise<Receipt> {
    const command = { requestId: key, client: "test" };
    const { receipt } = await this.ask((host) => perform(host, command));
    if (receipt === undefined) throw new Error(`${key} was answered without a receipt`);
    this.#given.set(key, { perform, receipt });
    return receipt;
  }

  /** Another one has taken over: from now on it is asked. */
  goOnWith(host: RealHost): void {
    this.#host = host;
  }

  /** The file that whoever comes by an armed point leaves. */
  markOf(point: string): string {
    return join(this.project, crashMark(point));
  }

  /** Ends the host of this moment; the next call gets another. */
  async leave(how: "stop" | "kill"): Promise<void> {
    const host = await this.host();
    await host[how]();
    if (this.#host === host) this.#host = undefined;
  }

  /**
   * Waits until somebody has died for each of these files: what happens behind the last answer
   * dies later than the client looks, and perhaps only in the next host.
   */
  async untilDead(marks: readonly string[]): Promise<void> {
    for (const mark of marks) {
      await this.host();
      await vi.waitUntil(() => existsSync(mark), { timeout: PATIENCE_MS, interval: 20 });
      // It marks its own death, if it was the host, before it dies.
      await this.ask(({ host }) => host.getStatus({}));
    }
  }

  /** The run in the first state that fits. */
  async until(runId: string, fits: (run: RunView) => boolean): Promise<RunView> {
    return this.ask(async ({ runs }) => {
      for await (const { run } of runs.watchRun({ runId })) {
        if (run === undefined) continue;
        if (fits(run)) return run;
      }
      throw new Error(`the run ended in another state: ${await this.describe(runId)}`);
    });
  }

  async untilStatus(runId: string, status: RunStatus): Promise<RunView> {
    return this.until(runId, ({ summary }) => summary?.status === status);
  }

  async view(runId: string): Promise<RunView> {
    const { run } = await this.ask(({ runs }) => runs.getRun({ runId }));
    if (run === undefined) throw new Error("a run without a view");
    return run;
  }

  async events(runId: string): Promise<readonly Event[]> {
    const { events } = await this.ask(({ runs }) => runs.listEvents({ runId, pageSize: 1000 }));
    return events;
  }

  /** How often each effect was applied outside, by its key without the run. */
  effects(runId: string): Record<string, number> {
    const file = join(this.project, "effects");
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    const own = lines.filter((line) => line.startsWith(`${runId}:`));
    const counts: Record<string, number> = {};
    for (const line of own) {
      const key = line.slice(runId.length + 1);
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  /** Invariants hold, the events of the run have no gap, and every command is answered as before. */
  async expectSound(runId: string): Promise<void> {
    const { findings } = await this.ask(({ host }) => host.diagnose({}));
    expect(findings.map(({ invariant, message }) => `${invariant}: ${message}`)).toEqual([]);
    const revisions = (await this.events(runId)).map(({ revision }) => Number(revision));
    expect(revisions).toEqual(revisions.map((_, index) => index + 1));
    expect(Number((await this.view(runId)).summary?.revision)).toBe(revisions.length);
    await this.expectAdopted();
  }

  /** Every command that was answered is answered in the same way again. */
  async expectAdopted(): Promise<void> {
    for (const [key, { perform, receipt }] of this.#given) {
      const command = { requestId: key, client: "test" };
      const again = (await this.ask((host) => perform(host, command))).receipt;
      expect(again).toEqual({ ...receipt, outcome: Outcome.ADOPTED });
    }
  }

  async describe(runId: string): Promise<string> {
    const { summary, error } = await this.view(runId);
    const status = RUN_STATUS_NAMES.get(summary?.status ?? RunStatus.UNSPECIFIED);
    return `${status} at ${summary?.node}: ${summary?.detail} ${error?.message ?? ""}`;
  }
}

function newProject(cleanUp: CleanUp): string {
  const project = mkdtempSync(join(tmpdir(), "p-"));
  cleanUp(() => rmSync(project, { recursive: true, force: true }));
  return project;
}

/** What became of a run, without what differs between two runs of one workflow. */
export interface Ending {
  readonly status: RunStatus;
  readonly result: unknown;
  /** Nodes with an accepted output, in the order in which they got it. */
  readonly done: readonly string[];
}

export function endingOf({ summary, result, attempts }: RunView): Ending {
  return {
    status: summary?.status ?? RunStatus.UNSPECIFIED,
    result: valueJson(result),
    done: attempts.filter(({ status }) => status === AttemptStatus.OK).map(({ node }) => node),
  };
}

const RUN_STATUS_NAMES = new Map<RunStatus, string>(
  Object.entries(RunStatus).map(([name, status]) => [status, name.toLowerCase()]),
);

/** A host that was told to die may do so before it listens. */
function diedEarly(error: unknown): undefined {
  if (error instanceof Error && error.message.startsWith("the host ended with null")) return;
  throw error;
}
