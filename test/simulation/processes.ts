/** All processes of all hosts of a world: born, frozen, ended, and what is on its way to and from them. */
import { clone } from "@bufbuild/protobuf";
import { WorkRequestSchema } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type {
  WorkRequest,
  WorkResponse,
} from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import { Engine } from "./engine.ts";
import type { EngineTools } from "./engine.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";
import type { SimHost } from "./sim-host.ts";
import { killedBy, SimWorker } from "./sim-worker.ts";
import type { Event } from "./sim-worker.ts";
import type { Nursery } from "./sim-supervisor.ts";

/** Numbers from here on are of frames that no worker of ours would send. */
const MISQUOTED = 1_000_000n;

export interface SimProcess {
  readonly worker: SimWorker;
  readonly engine: Engine;
  readonly host: SimHost;
}

export interface ProcessesOptions {
  readonly clock: FakeClock;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly engine: EngineTools;
  readonly report: (fault: string) => void;
  /** The host that has the newest epoch. */
  readonly current: () => SimHost | undefined;
  readonly isCalm: () => boolean;
}

export class Processes {
  readonly #options: ProcessesOptions;
  #all: SimProcess[] = [];
  #born = 0;

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  get living(): readonly SimProcess[] {
    this.#all = this.#all.filter(({ worker }) => !worker.gone);
    return this.#all;
  }

  stateOf(pid: number): string {
    return this.#all.find(({ worker }) => worker.pid === pid)?.worker.frozen === true ? "T" : "S";
  }

  nurseryOf(host: SimHost): Nursery {
    const { random, isCalm } = this.#options;
    return {
      spawn: () => this.#spawn(host),
      failsToSpawn: () => !isCalm() && random.chance(0.03),
      hasSpare: () => random.chance(0.4),
      find: (workerId) => this.#all.find(({ worker }) => worker.id === workerId)?.worker,
      living: () => this.living.filter((one) => one.host === host).map(({ worker }) => worker),
      reap: () => this.#reap(host),
    };
  }

  /** Those to which or from which something is on its way. */
  get reachable(): readonly SimProcess[] {
    return this.living.filter(({ worker }) =>
      worker.frozen
        ? worker.inbox.some(({ kind }) => kind === "kill")
        : worker.inbox.length + worker.outbox.length > 0,
    );
  }

  /** One thing arrives. */
  deliver(process: SimProcess): string {
    const { worker, host } = process;
    const { random } = this.#options;
    const speaks = worker.outbox.length > 0 && !worker.frozen && random.chance(0.5);
    if (!speaks && this.#reads(process)) return `${worker.id} reads`;
    const frame = worker.frozen ? undefined : worker.outbox.shift();
    if (frame === undefined) return "nothing";
    worker.heard(frame);
    return `${worker.id} says ${frame.body.case ?? ""} ${frame.number}${host.dead ? " to nobody" : ""}`;
  }

  /** The host hears the same frame once more, as from a worker that got no answer. */
  repeat(process: SimProcess): void {
    const [frame] = process.worker.outbox;
    if (frame !== undefined) process.worker.outbox.splice(1, 0, frame);
  }

  /** The host hears a frame that names another generation than its worker has. */
  misquote(process: SimProcess): void {
    const [frame] = process.worker.outbox;
    if (frame?.claim === undefined || process.host.dead || frame.number > MISQUOTED) return;
    const wrong = clone(WorkRequestSchema, frame);
    if (wrong.claim === undefined) return;
    // Not to be taken for a repeat of the frame it was made from.
    wrong.number += MISQUOTED;
    wrong.claim.generation += this.#options.random.chance(0.5) ? 1 : -1;
    process.worker.outbox[0] = wrong;
  }

  /** True when it had something to read and could. */
  #reads(process: SimProcess): boolean {
    const { worker } = process;
    const isKilled = worker.inbox.some(({ kind }) => kind === "kill");
    // A signal does not wait for what was sent before it.
    if (isKilled && (worker.frozen || this.#options.random.chance(0.6))) {
      worker.dies(killedBy("killed"));
      return true;
    }
    const event = worker.frozen ? undefined : worker.inbox.shift();
    if (event !== undefined) this.#takes(process, event);
    return event !== undefined;
  }

  #takes({ worker, engine, host }: SimProcess, event: Event): void {
    if (event.kind === "kill") worker.dies(killedBy("killed"));
    else if (event.kind === "stop") {
      if (!worker.stubborn) engine.leaves("stopped", 0);
    } else {
      const { body } = event.frame;
      if (body.case === "state" && !host.dead) this.#options.ledger.checkState(body.value);
      engine.reads(event.frame);
    }
  }

  /** Why the host must not accept what a worker says now, if that is so. */
  #whyRefusable(
    { worker, host }: Pick<SimProcess, "worker" | "host">,
    { claim }: WorkRequest,
  ): string | undefined {
    const { ledger } = this.#options;
    const { boundTo } = worker;
    if (boundTo === undefined || claim === undefined) return undefined;
    const { runId, generation } = claim;
    const reasons = {
      "it names another generation than its worker's": generation !== boundTo.generation,
      "a newer host has begun": this.#isDeposed(host),
      "another worker was given the run": !ledger.isOwner(runId, worker.id),
      "the run's cancel had been acknowledged": ledger.cancelled.has(runId),
      "its claim had run out": hasExpired(host, runId, generation),
    };
    return Object.entries(reasons).find(([, isSo]) => isSo)?.[0];
  }

  #isDeposed(host: SimHost): boolean {
    const current = this.#options.current();
    return current !== undefined && current !== host && current.epoch > host.epoch;
  }

  #spawn(host: SimHost): SimWorker {
    const { clock, engine } = this.#options;
    this.#born += 1;
    const worker = new SimWorker({
      clock,
      number: this.#born,
      isCut: () => host.dead,
      onSent: (frame) => this.#sent(worker, frame),
      onHeard: (frame) => {
        const refusable = this.#whyRefusable({ worker, host }, frame);
        this.#options.ledger.hears({ workerId: worker.id, frame, refusable });
      },
    });
    // What a dead host still does in memory starts no process.
    if (host.dead) worker.gone = true;
    else this.#all.push({ worker, engine: new Engine(worker, engine), host });
    return worker;
  }

  #sent(worker: SimWorker, frame: WorkResponse): void {
    const { ledger, report } = this.#options;
    if (frame.body.case === "bootstrap") {
      const { runId } = frame.body.value;
      const other = this.living.find(
        (one) => one.worker !== worker && one.worker.boundTo?.runId === runId,
      );
      if (other !== undefined) {
        report(`run ${runId} is given to ${worker.id} while ${other.worker.id} still lives`);
      }
    }
    ledger.told(worker.id, frame);
  }

  #reap(host: SimHost): number {
    const left = this.living.filter((one) => one.host !== host);
    for (const { worker } of left) worker.dies(killedBy("killed"));
    return left.length;
  }
}

function hasExpired(host: SimHost, runId: string, generation: number): boolean {
  const open = host.store.reader.claims.open(runId);
  return open?.generation === generation && open.expiry <= host.lease.now();
}
