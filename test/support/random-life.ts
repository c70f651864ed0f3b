import { HostError } from "../../src/host/errors.ts";
import type { EffectOutcome } from "../../src/host/operations/effect-rows.ts";
import type { AttemptResult, NextStep, RunEnd } from "../../src/host/operations/boundary.ts";
import { answerCheckpoint } from "../../src/host/operations/interactions.ts";
import { pruneRuns } from "../../src/host/operations/retention.ts";
import type { InteractionRequest } from "../../src/host/operations/parking.ts";
import type { InteractionKind } from "../../src/host/records-sessions.ts";
import { settle } from "./acting.ts";
import { numbers } from "./numbers.ts";
import { cancel, pause, resume } from "./scenes.ts";
import { AGENT, choose, DECISION, deliver } from "./session-scenes.ts";
import { openSession, REPLY, SESSION, submit } from "./session-scenes.ts";
import { HUB_GRAPH, TestRig } from "./test-host.ts";
import { COMPLETE, FAIL, FAILURE, next, OK } from "./test-worker.ts";
import type { TestWorker } from "./test-worker.ts";

const NODES = HUB_GRAPH.nodes.map((node) => node.path);
const ASKING = ["ask", "think", "think", "choose"];
/** As many at once as meet one another, and as many in all as are still looked at quickly. */
const UNFINISHED_MAX = 6;
const RUNS_MAX = 24;
/** What would end or stop everything happens less often than what goes on. */
const CHANCES: Readonly<Record<string, number>> = {
  admit: 0.5,
  block: 0.05,
  cancel: 0.05,
  exit: 0.3,
  judge: 0.3,
  lapse: 0.05,
  lose: 0.2,
  pause: 0.2,
  prune: 0.1,
  refuse: 0.4,
};
const RESOLUTIONS = ["applied", "not_applied", "retry"] as const;

/**
 * Some runs, many workers and people who do whatever comes to mind, most of it
 * at the wrong moment. Every step is allowed or refused by a rule, and the rig
 * checks after each that what is stored is sound.
 */
export class RandomLife {
  readonly rig = new TestRig();
  /** How often each kind of step was allowed. */
  readonly done = new Map<string, number>();
  readonly #next: () => number;
  readonly #workers: TestWorker[] = [];
  readonly #runIds: string[] = [];

  constructor(seed: number) {
    this.#next = numbers(seed);
  }

  async step(): Promise<void> {
    const [name, act] = this.#pick(Object.entries(this.#steps));
    if (this.#next() > (CHANCES[name] ?? 1)) return;
    try {
      await act();
      this.done.set(name, (this.done.get(name) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }

  readonly #steps: Readonly<Record<string, () => Promise<unknown>>> = {
    admit: async () => {
      if (this.#runIds.length >= RUNS_MAX || this.#unfinished() >= UNFINISHED_MAX) return;
      const startAt = this.#pick(this.#next() < 0.5 ? ASKING : NODES);
      const graph = { ...HUB_GRAPH, startAt };
      await openSession(this.rig);
      const origin = this.#next() < 0.5 ? { originSession: SESSION } : {};
      this.#runIds.push(await this.rig.admit({ graph, ...origin }));
    },
    launch: async () => this.#workers.push(await this.rig.launch(this.#run())),
    attach: () => this.#worker().attach(),
    relaunch: async () => this.#workers.push(await this.rig.relaunch(this.#queued())),
    advance: () => this.#worker().advance(this.#result(), this.#follow()),
    route: () => this.#worker().advance(undefined, this.#follow()),
    act: () => this.#worker().act({ observable: this.#next() < 0.5 }),
    work: async () => {
      const worker = this.#worker();
      await worker.act();
      await worker.advance(this.#result(), this.#follow());
    },
    ask: () => {
      const worker = this.#worker();
      return worker.ask(this.#question(worker.run.node));
    },
    // What takes two steps at the right moment would hardly ever come to be by chance.
    consult: async () => {
      const worker = await this.rig.relaunch(this.#queued());
      this.#workers.push(worker);
      await worker.ask(this.#question(worker.run.node));
    },
    validate: async () => {
      const [run] = this.rig.reader.runs.queuedValidations(1);
      if (run !== undefined) this.#workers.push(await this.rig.relaunch(run.runId));
    },
    submit: async () => submit(this.rig, this.#open("agent"), this.#next()),
    refuse: () => this.#validator().refuse(),
    accept: () => this.#validator().advance(OK, next("end")),
    decide: () => choose(this.rig, this.#open("human_decision"), this.#pick(["yes", "no"])),
    see: async () => {
      const asked = this.rig.reader.messages.openOfSession(SESSION, 10);
      const { interactionId } = this.#pick(asked.filter((one) => one.interactionId !== undefined));
      if (interactionId !== undefined) await deliver(this.rig, interactionId);
    },
    nap: () => this.#worker().wait(this.#ms(10_000)),
    backOff: () => this.#worker().wait(this.#ms(10_000), this.#result()),
    judge: () => this.#worker().judge(this.#next() < 0.5 ? "failed" : "timed_out"),
    block: () => this.#worker().block({ reason: "source_changed", detail: "changed" }),
    lose: () => this.rig.lose(this.#worker(), { counted: this.#next() < 0.7 }),
    exit: () => this.rig.exit(this.#worker().proof.workerId),
    lapse: async () => this.rig.at.leaseAdvance(15_000),
    pass: () => this.rig.pass(this.#ms(8_000)),
    pause: () => pause(this.rig, this.#run(), this.#next() < 0.4),
    resume: () => resume(this.rig, this.#run()),
    cancel: () => cancel(this.rig, this.#run()),
    answer: () => this.#answer(),
    resolve: () => this.#resolve(),
    prune: () => this.#prune(),
  };

  #unfinished(): number {
    const { runs } = this.rig.reader;
    return this.#runIds.filter((runId) => runs.get(runId)?.finishedAt === undefined).length;
  }

  /** One that fits the node more often than not. */
  #question(node: string): Partial<InteractionRequest> {
    const fits = node === "choose" ? DECISION : node === "ask" ? {} : AGENT;
    const request = this.#next() < 0.8 ? fits : this.#pick([{}, REPLY, DECISION]);
    return { ...request, ...(this.#next() < 0.5 ? { timeoutMs: 5_000 } : {}) };
  }

  #validator(): TestWorker {
    const { reader } = this.rig;
    const owners = new Set(reader.claims.allOpen().map((claim) => claim.workerId));
    return this.#pick(
      this.#workers.filter(
        ({ proof, runId }) =>
          owners.has(proof.workerId) && reader.submissions.validating(runId) !== undefined,
      ),
    );
  }

  #open(kind: InteractionKind): string {
    const open = this.rig.reader.interactions.page({ includeClosed: false, limit: 10 });
    return this.#pick(open.filter((one) => one.kind === kind)).interactionId;
  }

  async #answer(): Promise<void> {
    const [open] = this.rig.reader.interactions.page({ includeClosed: false, limit: 1 });
    if (open === undefined) return;
    const request = { interactionId: open.interactionId, answerJson: "true" };
    const asked = this.rig.asked("AnswerCheckpoint");
    await this.rig.sound(answerCheckpoint(this.rig.host, asked, request));
  }

  async #resolve(): Promise<void> {
    const [effect] = this.rig.reader.effects.page({ statuses: ["ambiguous"], limit: 1 });
    if (effect === undefined) return;
    const { effectId } = effect;
    await settle({ rig: this.rig, effectId }, this.#pick(RESOLUTIONS));
  }

  async #prune(): Promise<void> {
    const request = { olderThanMs: 60_000, dryRun: false };
    await this.rig.sound(pruneRuns(this.rig.host, this.rig.asked("Prune"), request));
    const gone = (runId: string): boolean => this.rig.reader.runs.get(runId) === undefined;
    for (const runId of this.#runIds.filter(gone)) {
      this.#runIds.splice(this.#runIds.indexOf(runId), 1);
    }
  }

  /** One that fits what is being applied more often than not, or nothing would ever go on. */
  #result(): AttemptResult {
    const effect = this.#effect();
    const outcome = this.#pick(["ok", "ok", "failed", "timed_out", "unknown"] as const);
    const known = effect === undefined ? {} : { effect };
    return outcome === "ok" ? { ...OK, ...known } : { outcome, error: FAILURE, ...known };
  }

  #effect(): EffectOutcome | undefined {
    const applying = this.rig.reader.effects.page({ statuses: ["applying"], limit: 10 });
    if (applying.length === 0 || this.#next() < 0.2) return undefined;
    const { effectId } = this.#pick(applying);
    return { effectId, kind: this.#pick(["applied", "applied", "rejected", "unknown"] as const) };
  }

  #follow(): NextStep | RunEnd {
    const chance = this.#next();
    if (chance < 0.15) return this.#next() < 0.5 ? COMPLETE : FAIL;
    return { kind: "next", node: this.#pick(NODES), retry: this.#next() < 0.3 };
  }

  #run(): string {
    return this.#pick(this.#runIds);
  }

  #queued(): string {
    const { runs } = this.rig.reader;
    const due = runs.queued(this.rig.at.clock.now(), 10);
    return this.#pick([...runs.queuedValidations(10), ...due]).runId;
  }

  /** Mostly one that owns its run, but the others keep trying. */
  #worker(): TestWorker {
    if (this.#next() < 0.1) return this.#pick(this.#workers);
    const owners = new Set(this.rig.reader.claims.allOpen().map((claim) => claim.workerId));
    return this.#pick(this.#workers.filter(({ proof }) => owners.has(proof.workerId)));
  }

  #ms(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#next() * items.length)];
    if (item === undefined) throw new HostError("REQUEST_INVALID", "there is nothing to pick yet");
    return item;
  }
}
