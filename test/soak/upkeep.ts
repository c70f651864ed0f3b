/** Backups, prunes and diagnoses while everything goes on, and what they have to find. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { isTerminal } from "../../src/cli/views/words.ts";
import { livingHost } from "../../src/client/host-file.ts";
import { isRejectedFor } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import type { RunSummary } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { hostEnvironment } from "../../src/client/start-host.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import type { Clients } from "./clients.ts";
import type { Ledger } from "./ledger.ts";
import type { Habit } from "./pauses.ts";
import type { People } from "./people.ts";

export interface UpkeepOptions {
  readonly paths: StatePaths;
  readonly clients: Clients;
  readonly ledger: Ledger;
  readonly people: People;
  /** Where backups are written. */
  readonly backups: string;
  /** Ended runs older than this are deleted. */
  readonly retentionMs: number;
  /** How often each kind of upkeep is done. */
  readonly everyMs: number;
}

const CLI = join(import.meta.dirname, "../../bin/pi-workflows.cjs");
/** In the folder of a host that was stopped in order. */
const EXPECTED: ReadonlySet<string> = new Set([
  "cache",
  "host.db",
  "host.lock",
  "host.log",
  "pi-sessions",
  "settings.json",
  "workers",
]);
const PAGE = 500;
/** A cancelled run with an effect on its way takes this long to be looked at. */
const SETTLE_MS = 10_000;

export class Upkeep {
  pruned = 0;
  backups = 0;
  diagnoses = 0;
  readonly #options: UpkeepOptions;
  /** Processes of no living worker, as the last look saw them. */
  #suspects = new Map<number, string>();

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  habits(): readonly Habit[] {
    const { everyMs } = this.#options;
    return [
      { name: "prune", everyMs, act: () => this.prune() },
      { name: "back up", everyMs: everyMs * 2, act: () => this.backUp() },
      { name: "diagnose", everyMs, act: () => this.diagnose() },
    ];
  }

  /** Deletes old runs, after everything that has ended was looked at. */
  async prune(olderThanMs = this.#options.retentionMs): Promise<void> {
    const { clients, ledger } = this.#options;
    const began = ledger.nowMs();
    await this.#lookAtAll();
    // What ended while that was done is younger than what is deleted, or it waits for the next time.
    if (olderThanMs > 0 && ledger.nowMs() - began > olderThanMs / 2) return;
    const key = `prune ${Math.round(began)}`;
    const command = { requestId: key, client: "soak" };
    const olderThan = durationFromMs(olderThanMs);
    const { runs } = await clients.ask(({ host }) => host.prune({ command, olderThan }));
    this.pruned += Number(runs);
  }

  async diagnose(): Promise<void> {
    const { clients, ledger } = this.#options;
    const { findings } = await clients.ask(({ host }) => host.diagnose({}));
    for (const { invariant, message } of findings) ledger.fault(`${invariant}: ${message}`);
    await this.#lookForOrphans();
    this.diagnoses += 1;
  }

  /** As a user asks, of the host and what is around it. */
  async doctor(): Promise<void> {
    const { paths, ledger } = this.#options;
    try {
      await promisify(execFile)(process.execPath, [CLI, "doctor", "--json"], {
        env: hostEnvironment(paths),
      });
    } catch (error) {
      const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
      ledger.fault(`doctor: ${stdout ?? String(error)} ${stderr ?? ""}`);
    }
  }

  /** A copy must be sound, and knows every worker whose output is kept. */
  async backUp(): Promise<void> {
    const { backups, clients, ledger, paths } = this.#options;
    const path = join(backups, "copy.db");
    rmSync(path, { force: true });
    const kept = outputFiles(paths);
    try {
      const { digest } = await clients.ask(({ host }) => host.backup({ path }));
      const { workers } = await clients.ask(({ host }) => host.getStatus({}));
      const living = new Set(workers.map(({ workerId }) => workerId));
      if (digest !== sha256(path)) ledger.fault("a backup has another digest than was told");
      const known = knownWorkers(path, (problem) => ledger.fault(`a backup: ${problem}`));
      const now = new Set(outputFiles(paths));
      const left = kept.filter((id) => now.has(id) && !known.has(id) && !living.has(id));
      if (left.length > 0) ledger.fault(`output of ${left.length} workers of no run: ${left[0]}`);
      this.backups += 1;
    } catch (error) {
      // A host that died half-way has left the file, and the next one refuses to write over it.
      if (!isRejectedFor(error, Reason.REQUEST_INVALID)) throw error;
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Every run there is, by the list: each is known once, and none was missed by the watcher. */
  async #lookAtAll(): Promise<void> {
    const { people, ledger } = this.#options;
    const titles = new Map<string, string>();
    for (const run of await this.#allRuns()) {
      const other = titles.get(run.title);
      if (other !== undefined && other !== run.runId)
        ledger.fault(`${run.title} was started twice: ${other} and ${run.runId}`);
      titles.set(run.title, run.runId);
      if (!isTerminal(run)) continue;
      people.see(run);
      await people.settled(run.runId, SETTLE_MS);
    }
  }

  async #allRuns(): Promise<readonly RunSummary[]> {
    const { clients } = this.#options;
    const all: RunSummary[] = [];
    let pageToken = "";
    do {
      const request = { pageSize: PAGE, pageToken };
      const page = await clients.ask(({ runs }) => runs.listRuns(request));
      all.push(...page.runs);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return all;
  }

  /** Processes that carry a tag of this state folder and belong to no worker that lives. */
  async #lookForOrphans(): Promise<void> {
    const { clients, ledger, paths } = this.#options;
    const tagged = taggedProcesses(sha256Hex(paths.folder).slice(0, 16));
    const { workers, epoch } = await clients.ask(({ host }) => host.getStatus({}));
    const living = new Set(workers.map(({ workerId }) => `${epoch}.${workerId}`));
    const suspects = tagged.filter(({ tag }) => !living.has(tag.slice(tag.indexOf(".") + 1)));
    for (const { pid, tag } of suspects)
      // A tree that is being ended may be seen once.
      if (this.#suspects.get(pid) === tag) ledger.fault(`process ${pid} (${tag}) is an orphan`);
    this.#suspects = new Map(suspects.map(({ pid, tag }) => [pid, tag]));
  }

  /** What is left when every run has ended, was deleted, and the host was stopped in order. */
  leftovers(): readonly string[] {
    const { paths } = this.#options;
    const files = readdirSync(paths.folder)
      .filter((name) => !EXPECTED.has(name))
      .filter((name) => !/^host\.log\.\d+$/.test(name));
    const output = outputFiles(paths).map((id) => `workers/${id}`);
    const host = livingHost(paths);
    const tag = sha256Hex(paths.folder).slice(0, 16);
    const processes = taggedProcesses(tag).map(({ pid }) => `process ${pid}`);
    return [...files, ...output, ...processes, ...(host === undefined ? [] : ["the host"])];
  }
}

function outputFiles({ workersDir }: StatePaths): readonly string[] {
  return readdirSync(workersDir).map((name) => name.replace(/\.out$/, ""));
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function knownWorkers(file: string, tell: (problem: string) => void): ReadonlySet<string> {
  const db = new Database(file, { readonly: true });
  try {
    const integrity = db.pragma("integrity_check", { simple: true });
    if (integrity !== "ok") tell(String(integrity));
    const dangling = db.pragma("foreign_key_check") as readonly unknown[];
    if (dangling.length > 0) tell(`${dangling.length} rows name what is not there`);
    // The column is one text a row.
    return new Set(db.prepare("SELECT worker_id FROM workers").pluck().all() as string[]);
  } finally {
    db.close();
  }
}
