/**
 * Whoever starts runs and looks after them: answers what is asked, resumes what is paused or
 * blocked, says what became of effects, and compares each end with what it must be.
 */
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { jsonValue } from "../../src/client/json-value.ts";
import { rejectionOf } from "../../src/client/rejection.ts";
import { EffectStatus } from "../../src/gen/piworkflows/common/v1/effect_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { BlockReason, RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary, RunView } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import type { Receipt } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { isTerminal, statusWord } from "../../src/cli/views/words.ts";
import type { Clients } from "./clients.ts";
import { linesIn, problemsOf } from "./endings.ts";
import { planRun, upTo } from "./kinds.ts";
import type { Chance } from "./kinds.ts";
import type { KnownRun, Ledger, Perform } from "./ledger.ts";

export interface PeopleOptions {
  readonly clients: Clients;
  readonly ledger: Ledger;
  readonly chance: Chance;
  /** Holds the workflows. */
  readonly project: string;
  /** Where effects happen. */
  readonly outside: string;
  /** Tells the runs of this soak from those of another. */
  readonly name: string;
  readonly pause: (ms: number) => Promise<void>;
  /** Part of the time that people and timers usually take: less towards the end of a soak. */
  readonly stretch: () => number;
}

/** What was asked for at the wrong moment; the next state of the run shows what is to be done. */
const TOO_LATE: ReadonlySet<Reason> = new Set([
  Reason.ILLEGAL_TRANSITION,
  Reason.INTERACTION_CLOSED,
  Reason.EFFECT_AMBIGUOUS,
]);
/** An effect of a cancelled run may still be on its way; who asks has seen its worker go. */
const CANCELLED_EFFECT_MS = 5_000;
const LOOK_MS = 20;
const LOOK_AGAIN_MS = 200;
const LOOKS_MAX = 100;
const THINK_MS_MAX = 90_000;
const PAUSE_MS_MAX = 60_000;
const DELAY_MS_MAX = 240_000;
const STARTS_MAX = 3;
/** As a death of the loading process, or of the one that was to load, is told. */
const LOADER_KILLED: ReadonlySet<Code> = new Set([Code.InvalidArgument, Code.Internal]);

export class People {
  readonly #options: PeopleOptions;
  #started = 0;

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /** Starts one run of a kind that chance picks. */
  async start(): Promise<void> {
    const { ledger, chance, project, outside, name, stretch } = this.#options;
    const key = `${name}-${(this.#started += 1)}`;
    const plan = planRun({ chance, key, outside, stretch: stretch() });
    const later = chance() < 0.5;
    const request = {
      workflow: join(project, `${plan.workflow}.workflow.ts`),
      projectDir: project,
      input: jsonValue(plan.input),
      priority: chance() < 0.2 ? upTo(chance, 11) - 5 : 0,
      ...(later
        ? { notBefore: timestampFromMs(Date.now() + upTo(chance, DELAY_MS_MAX * stretch())) }
        : {}),
    };
    const { runId } = await this.#insist(`start ${key}`, ({ runs }, command) =>
      runs.startRun({ ...request, command }),
    );
    const state = { cancelled: false, paused: false, busy: false, commands: 0 };
    const run: KnownRun = { key, plan, runId, startedAt: ledger.nowMs(), ...state };
    ledger.runs.set(runId, run);
    const early = ledger.early.get(runId);
    ledger.early.delete(runId);
    if (early !== undefined) this.see(early);
  }

  /** A state of a run. */
  see(summary: RunSummary): void {
    const { ledger } = this.#options;
    const run = ledger.runs.get(summary.runId);
    if (run === undefined) {
      const closed = ledger.closed.get(summary.runId);
      if (closed === undefined) ledger.early.set(summary.runId, summary);
      else if (closed !== summary.status)
        ledger.fault(`${summary.runId} had ended and is ${statusWord(summary)} now`);
      return;
    }
    if ((run.summary?.revision ?? 0n) > summary.revision) return;
    run.summary = summary;
    void this.attend(run);
  }

  /** Does what the newest state of the run asks for. */
  async attend(run: KnownRun): Promise<void> {
    if (run.busy || run.summary === undefined) return;
    run.busy = true;
    const { revision } = run.summary;
    try {
      await this.#serve(run, run.summary);
    } catch (error) {
      this.#mind(`${run.key} ${run.runId}`, error);
    }
    run.busy = false;
    if (run.summary.revision > revision) void this.attend(run);
  }

  /** Waits until the end of a run has been looked at, or for so long. */
  async settled(runId: string, ms: number): Promise<void> {
    const { ledger, pause } = this.#options;
    const deadline = ledger.nowMs() + ms;
    while (!ledger.closed.has(runId) && ledger.nowMs() < deadline) await pause(LOOK_MS);
  }

  /** Ends the run, or lets it rest, unless somebody is about to. */
  async disturb(run: KnownRun, what: "cancel" | "pause"): Promise<void> {
    if (run.asked !== undefined || run.paused || run.cancelled) return;
    const { runId } = run;
    run.asked = this.#try(run, what, ({ runs }, command) =>
      what === "cancel" ? runs.cancelRun({ command, runId }) : runs.pauseRun({ command, runId }),
    );
    await run.asked;
    delete run.asked;
  }

  /** Asks again for what was acknowledged, which must be answered as it was. */
  async repeat(count: number): Promise<void> {
    const { ledger, chance, clients } = this.#options;
    for (let done = 0; done < count && ledger.given.length > 0; done += 1) {
      const given = ledger.given[upTo(chance, ledger.given.length)];
      if (given === undefined) return;
      const { key, perform, receipt } = given;
      const command = { requestId: key, client: "soak" };
      const again = (await clients.ask((client) => perform(client, command))).receipt;
      const { runId, revision } = receipt;
      if (again?.runId !== runId || again.revision !== revision)
        ledger.fault(`"${key}" got ${runId} at ${revision}, and ${again?.runId} at a repeat`);
    }
  }

  /** Whoever kills workers may have killed those that were to load the file, one after the other. */
  async #insist(key: string, perform: Perform): Promise<Receipt> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#command(key, perform);
      } catch (error) {
        const isLoader = error instanceof ConnectError && LOADER_KILLED.has(error.code);
        if (!isLoader || tries === STARTS_MAX) throw error;
        this.#options.ledger.startsRefused += 1;
      }
    }
  }

  /** Takes note of what went wrong in a way that nobody expects. */
  #mind(what: string, error: unknown): void {
    const reason = rejectionOf(error)?.reason;
    if (reason !== undefined && TOO_LATE.has(reason)) return;
    this.#options.ledger.fault(`${what}: ${String(error)}`);
  }

  /** A change that the run may refuse because it has gone on meanwhile. */
  async #try(run: KnownRun, what: "cancel" | "pause", perform: Perform): Promise<void> {
    try {
      await this.#command(this.#keyOf(run, what), perform);
      if (what === "cancel") run.cancelled = true;
      else run.paused = true;
    } catch (error) {
      this.#mind(`${what} ${run.key}`, error);
    }
  }

  async #command(key: string, perform: Perform): Promise<Receipt> {
    const { clients, ledger } = this.#options;
    const command = { requestId: key, client: "soak" };
    const { receipt } = await clients.ask((client) => perform(client, command));
    if (receipt === undefined) throw new Error(`"${key}" was answered without a receipt`);
    ledger.given.push({ key, perform, receipt });
    return receipt;
  }

  #keyOf(run: KnownRun, what: string): string {
    run.commands += 1;
    return `${what} ${run.key} ${run.commands}`;
  }

  async #serve(run: KnownRun, summary: RunSummary): Promise<void> {
    const { chance, pause, stretch } = this.#options;
    if (isTerminal(summary)) {
      await this.#verify(run, summary);
    } else if (summary.status === RunStatus.WAITING && summary.interactionId !== "") {
      await pause(upTo(chance, THINK_MS_MAX * stretch()));
      await this.#answer(run, summary.interactionId);
    } else if (summary.status === RunStatus.PAUSED) {
      await pause(upTo(chance, PAUSE_MS_MAX * stretch()));
      await this.#resume(run);
    } else if (summary.status === RunStatus.BLOCKED) {
      await this.#unblock(run, summary);
    }
  }

  async #answer(run: KnownRun, interactionId: string): Promise<void> {
    const answer = jsonValue(run.plan.answer ?? null);
    await this.#command(this.#keyOf(run, "answer"), ({ interactions }, command) =>
      interactions.answerCheckpoint({ command, interactionId, answer }),
    );
  }

  /** What is paused stays so until now. */
  async #resume(run: KnownRun): Promise<void> {
    const { ledger } = this.#options;
    await run.asked;
    const { summary } = await this.#view(run.runId);
    if (summary === undefined || isTerminal(summary)) return;
    if (summary.status !== RunStatus.PAUSED)
      ledger.fault(`${run.key} was paused and is ${statusWord(summary)} without a resume`);
    if (!run.paused) ledger.fault(`${run.key} is paused and nobody asked for it`);
    await this.#command(this.#keyOf(run, "resume"), ({ runs }, command) =>
      runs.resumeRun({ command, runId: run.runId }),
    );
    run.paused = false;
  }

  async #unblock(run: KnownRun, { blockReason, detail }: RunSummary): Promise<void> {
    if (blockReason === BlockReason.EFFECT_AMBIGUOUS) {
      await this.#resolveEffects(run);
    } else if (blockReason === BlockReason.NO_PROGRESS) {
      await this.#command(this.#keyOf(run, "resume"), ({ runs }, command) =>
        runs.resumeRun({ command, runId: run.runId }),
      );
    } else {
      this.#options.ledger.fault(`${run.key} is blocked: ${detail}`);
    }
  }

  /** Looks outside, as a person would, and says what happened. */
  async #resolveEffects(run: KnownRun): Promise<void> {
    const { clients } = this.#options;
    const statuses = [EffectStatus.AMBIGUOUS];
    const { effects } = await clients.ask((client) =>
      client.effects.listEffects({ runId: run.runId, statuses }),
    );
    for (const { effectId } of effects) {
      await this.#sayWhatHappened(run, effectId, LOOKS_MAX);
    }
  }

  /** While what applied the effect is still being ended one has to look again. */
  async #sayWhatHappened(run: KnownRun, effectId: string, looks: number): Promise<void> {
    const happened = linesIn(run.plan.effectFile) > 0;
    const otherwise = run.cancelled ? Resolution.NOT_APPLIED : Resolution.RETRY;
    const resolution = happened ? Resolution.APPLIED : otherwise;
    const output = jsonValue("done");
    try {
      await this.#command(this.#keyOf(run, "resolve"), (client, command) =>
        client.effects.resolveEffect({ command, effectId, resolution, output }),
      );
    } catch (error) {
      if (looks === 0 || rejectionOf(error)?.reason !== Reason.ILLEGAL_TRANSITION) throw error;
      await this.#options.pause(LOOK_AGAIN_MS);
      await this.#sayWhatHappened(run, effectId, looks - 1);
    }
  }

  async #view(runId: string): Promise<RunView> {
    const { run } = await this.#options.clients.ask(({ runs }) => runs.getRun({ runId }));
    if (run === undefined) throw new Error("a run without a view");
    return run;
  }

  async #verify(run: KnownRun, summary: RunSummary): Promise<void> {
    const { ledger, pause } = this.#options;
    await run.asked;
    const view = await this.#view(run.runId);
    if ((view.summary?.ambiguousEffects ?? 0) > 0) {
      await pause(CANCELLED_EFFECT_MS);
      await this.#resolveEffects(run);
    }
    const effects = linesIn(run.plan.effectFile);
    for (const problem of problemsOf(run, view, effects))
      ledger.fault(`${run.key} ${run.runId} ${problem}`);
    ledger.close(run, summary);
  }
}
