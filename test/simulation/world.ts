/** One simulated machine: a state folder, the hosts that come and go over it, and time. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HostError } from "../../src/host/errors.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { Author } from "./author.ts";
import { Books } from "./books.ts";
import { Disk } from "./disk.ts";
import { start } from "./intents.ts";
import { Ledger } from "./ledger.ts";
import { Outside } from "./outside.ts";
import { People } from "./people.ts";
import { Power } from "./power.ts";
import type { LeaveImage } from "./power.ts";
import { Processes } from "./processes.ts";
import { Random } from "./random.ts";
import { SimHost } from "./sim-host.ts";
import { SimPi } from "./sim-pi.ts";
import type { SessionFile } from "./sim-pi.ts";
import { digestOf } from "./sim-resolver.ts";
import type { WorkflowFile } from "./sim-resolver.ts";
import { settled } from "./settled.ts";
import { copyState } from "./state-image.ts";

/** The program did what it must not do. */
export class Broken extends Error {
  override readonly name = "Broken";
}

export class World {
  readonly random: Random;
  readonly disk = new Disk();
  readonly power: Power;
  readonly clock = new FakeClock();
  readonly faults: string[] = [];
  readonly trace: string[] = [];
  readonly ledger: Ledger;
  readonly books: Books;
  readonly author: Author;
  readonly outside: Outside;
  readonly processes: Processes;
  readonly people: People;
  readonly sessions: readonly SessionFile[] = ["s1", "s2"].map((sessionId) => ({
    sessionId,
    branch: [],
  }));
  readonly pis: SimPi[] = [];
  readonly file: WorkflowFile;
  /** The host of the newest epoch; absent while there is none. */
  host: SimHost | undefined;
  /** One that does not know yet that its place was taken. */
  deposed: SimHost | undefined;
  readonly #root: string;
  readonly #hosts: SimHost[] = [];
  #folders = 0;
  #folder: string;
  #pids = 100;
  #setBackMs = 0;

  constructor(seed: number, root: string) {
    this.random = new Random(seed);
    this.power = new Power(this.random);
    this.#root = root;
    this.#folder = this.#newFolder();
    mkdirSync(this.#folder, { recursive: true });
    this.file = { path: join(root, "sim.workflow.ts"), content: "" };
    this.edit("version 0");
    const report = this.report;
    this.ledger = new Ledger(report);
    this.books = new Books(this.ledger, report);
    this.author = new Author({
      random: this.random,
      clock: this.clock,
      mayReply: (runId) => this.host?.store.reader.runs.get(runId)?.mode === "session",
    });
    this.outside = new Outside(report);
    const { clock, random, ledger, author, outside } = this;
    const current = (): SimHost | undefined => this.host;
    this.people = new People({ random, ledger, report, current });
    const sourcesFit = ({ sources }: { sources: readonly { digest: string }[] }): boolean =>
      sources.every(({ digest }) => digest === digestOf(this.file.content));
    this.processes = new Processes({
      clock,
      random,
      ledger,
      report,
      current,
      engine: { random, author, outside, sourcesFit },
      isCalm: () => author.calm,
    });
  }

  readonly report = (fault: string): void => {
    this.faults.push(fault);
  };

  /** Everything that is ready happens, files that are being read included. */
  async settle(): Promise<void> {
    await settled();
  }

  /** Throws when something was found that must not be. */
  judge(): void {
    if (this.faults.length > 0) throw new Broken(this.faults.join("\n"));
  }

  /** A host serves, a Pi is attached and a few runs are wanted. */
  async begin(): Promise<void> {
    await this.ensureHost();
    for (const file of this.sessions) {
      const pi = this.openPi(file, false);
      if (this.host !== undefined) pi.attach(this.host);
    }
    for (const { sessionId } of [...this.sessions, { sessionId: "" }]) {
      const options = { originSession: sessionId, priority: 0, notBefore: undefined };
      this.people.wants(start(this.people.key(), options));
    }
  }

  /** A host is started if there is none; it may be a while until it serves. */
  async ensureHost(): Promise<void> {
    if (this.host !== undefined) return;
    try {
      await this.#start();
    } catch (error) {
      // It could not open the database and ended; the next client tries again.
      if (!isTrouble(error)) throw error;
    }
  }

  /** Another host takes the folder of one that goes on. */
  async usurp(): Promise<void> {
    const { host } = this;
    if (host?.ready !== true || this.deposed !== undefined) return;
    this.deposed = host;
    this.host = undefined;
    await this.ensureHost();
    if (this.host !== undefined) return;
    this.deposed = undefined;
    if (!host.dead) this.host = host;
  }

  endDeposed(): void {
    const { deposed } = this;
    this.deposed = undefined;
    if (deposed !== undefined) this.#bury(deposed);
  }

  /** How many hosts there were. */
  get hostsBegun(): number {
    return this.#hosts.length;
  }

  /** The power goes, or the host is killed, between two COMMITs. */
  crashNow(): void {
    const { host } = this;
    if (host === undefined) return;
    this.#leaveImage((to) => copyState(host.folder, to));
    this.#bury(host);
  }

  /** The host stops in order; the same files serve the next one. */
  async stopHost(): Promise<void> {
    const { host } = this;
    if (host?.ready !== true) return;
    const drained = new AbortController();
    const draining = host.drain().finally(() => drained.abort());
    const { signal } = drained;
    for (let round = 0; round < 400 && !signal.aborted && !host.dead; round += 1) {
      this.deliverAll();
      this.clock.advance(250);
      await this.settle();
    }
    if (host.dead) return;
    if (!signal.aborted) this.report("an orderly stop of the host came to no end");
    await draining;
    host.store.close();
    this.#bury(host);
  }

  /** Somebody saves the workflow's file. */
  edit(content: string): void {
    this.file.content = content;
    writeFileSync(this.file.path, content);
  }

  /** Somebody sets the wall clock. */
  setWall(byMs: number): void {
    this.clock.setWall(this.clock.now() + byMs);
    this.#setBackMs = Math.max(0, this.#setBackMs - byMs);
  }

  /** The wall clock is no longer behind what it once was. */
  mendWall(): void {
    this.setWall(this.#setBackMs);
  }

  deliverAll(): void {
    for (const process of this.processes.reachable) this.processes.deliver(process);
  }

  openPi(file: SessionFile, takeOver: boolean): SimPi {
    this.#pids += 1;
    const { random, report } = this;
    const pi = new SimPi({
      file,
      pid: this.#pids,
      takeOver,
      random,
      report,
      step: () => this.trace.length,
    });
    this.pis.push(pi);
    return pi;
  }

  /** Nothing of it is left. */
  async close(): Promise<void> {
    this.disk.unlock();
    for (const pi of this.pis) pi.die();
    if (this.host !== undefined) this.#bury(this.host);
    this.endDeposed();
    await this.settle();
    // Not by the store, which would still write what the dead have left in their queues.
    for (const host of this.#hosts) host.db.close();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const host = new SimHost(
      {
        clock: this.clock,
        file: this.file,
        nurseryOf: (owner) => this.processes.nurseryOf(owner),
        stateOf: (pid) => this.processes.stateOf(pid),
        crash: (owner, point, write) => this.#crashPoint(owner, point, write),
        fault: this.report,
      },
      this.#folder,
    );
    this.#hosts.push(host);
    this.host = host;
    void host.begin().then(
      () => {
        if (host.ready) this.books.checkAll(host.store.reader);
      },
      (error: unknown) => {
        if (host.dead) return;
        if (!isTrouble(error)) this.report(`a host could not begin: ${String(error)}`);
        this.#bury(host);
      },
    );
    await this.settle();
  }

  #crashPoint(host: SimHost, point: "commit.before" | "commit.after", write: string): void {
    if (host !== this.host || host.dead) return;
    const leave = this.power.at(host.folder, point);
    if (leave === undefined) return;
    this.trace.push(`  the host dies at ${point} of ${write}`);
    this.#leaveImage(leave);
    this.#bury(host);
  }

  #leaveImage(copy: LeaveImage): void {
    const to = this.#newFolder();
    copy(to);
    this.#folder = to;
    this.disk.unlock();
    // Whoever shared the files with it goes on over the old ones, where nobody looks.
    this.endDeposed();
  }

  #bury(host: SimHost): void {
    host.die();
    if (this.host === host) this.host = undefined;
    this.people.hostIsGone(host);
  }

  #newFolder(): string {
    this.#folders += 1;
    return join(this.#root, String(this.#folders));
  }
}

function isTrouble(error: unknown): boolean {
  if (error instanceof HostError) return error.reason.startsWith("STORAGE_");
  const text = String(error);
  return /SQLITE_BUSY|locked|busy|SQLITE_FULL|full/i.test(text);
}
