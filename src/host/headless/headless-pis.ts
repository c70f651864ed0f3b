/**
 * Gives headless runs a Pi for as long as they need one.
 *
 * All of it is one function, `#settle`, that is called after whatever happened:
 * it lets `planPis` say what to start and what to end, and does that.
 */
import type { Timer } from "../../platform/clock.ts";
import { HostError } from "../errors.ts";
import {
  HEADLESS_ATTACH_MS,
  HEADLESS_BACKOFF_MS,
  HEADLESS_FAREWELL_MS,
  HEADLESS_KEEP_MS,
  HEADLESS_STARTS_MAX,
  HEADLESS_UNTOUCHED_MS,
} from "../limits.ts";
import { failForWantOfPi, loseTurns } from "../operations/headless.ts";
import { runOfHeadlessSession } from "../operations/headless-session.ts";
import type { SessionHub } from "../sessions/hub.ts";
import type { StoreChange } from "../store/store.ts";
import type { PiExit } from "../supervisor/pi-process.ts";
import { openHeadlessRuns } from "./open-runs.ts";
import { planPis } from "./plan.ts";
import type { EndReason, PlanRules } from "./plan.ts";
import { modelKey, factsOf } from "./run-facts.ts";
import { Seat } from "./seat.ts";
import type { HeadlessPiView, SeatedPi } from "./seat.ts";
import { removeSessions, sweepSessions } from "./session-folders.ts";
import { PiStarter } from "./starter.ts";
import type { StarterOptions } from "./starter.ts";
import {
  deafFault,
  exitFault,
  isConflict,
  NO_EXTENSION,
  NO_MODEL,
  stuckFault,
  unavailable,
  withLastWords,
} from "./unavailable.ts";
import type { StartFault } from "./unavailable.ts";
import type { PiNews } from "../supervisor/pi-records.ts";

export interface HeadlessOptions extends StarterOptions {
  readonly sessions: Pick<SessionHub, "headlessSecrets" | "attachedSessions">;
}

export class HeadlessPis {
  readonly #options: HeadlessOptions;
  readonly #starter: PiStarter;
  readonly #rules: PlanRules;
  readonly #seats = new Map<string, Seat>();
  readonly #ends = new Set<Promise<unknown>>();
  #unsubscribe: (() => void) | undefined;
  #wake: Timer | undefined;
  #settling = false;
  #closed = false;

  constructor(options: HeadlessOptions) {
    this.#options = options;
    this.#starter = new PiStarter(options);
    this.#rules = {
      places: options.settings.headlessPis,
      keepMs: HEADLESS_KEEP_MS,
      farewellMs: HEADLESS_FAREWELL_MS,
      attachMs: HEADLESS_ATTACH_MS,
      untouchedMs: HEADLESS_UNTOUCHED_MS,
    };
  }

  /** Turns that a dead host's Pis had begun are lost, which counts against nobody. */
  async recover(): Promise<void> {
    for (const runId of openHeadlessRuns(this.#options.host.store.reader)) {
      await loseTurns(this.#options.host, { runId, counted: false });
    }
  }

  start(): void {
    const { host, paths } = this.#options;
    this.#unsubscribe = host.store.subscribe((change) => this.#changed(change));
    for (const runId of openHeadlessRuns(host.store.reader)) this.#look(runId);
    sweepSessions(paths.piSessionsDir, host);
    this.#settleSoon();
  }

  /** Ends every Pi and resolves when nothing of them is left. */
  async stop(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe?.();
    this.#wake?.cancel();
    for (const seat of this.#seats.values()) this.#end(seat, "not needed");
    while (this.#ends.size > 0) await Promise.allSettled(this.#ends);
  }

  /** True while a step waits for a Pi, or a Pi is there. */
  get isNeeded(): boolean {
    return [...this.#seats.values()].some((seat) => !seat.isEmpty);
  }

  live(): readonly HeadlessPiView[] {
    return [...this.#seats.values()].flatMap(({ runId, pi }) => {
      if (pi === undefined) return [];
      const { id, pid, startedAt } = pi.process;
      return [{ id, runId, pid, attached: pi.deafSince === undefined, startedAt }];
    });
  }

  /** False while the Pi that has the session is to make way for one with another model. */
  mayShow(sessionId: string): boolean {
    const runId = runOfHeadlessSession(sessionId);
    const pi = runId === undefined ? undefined : this.#seats.get(runId)?.pi;
    if (runId === undefined || pi === undefined) return true;
    const ask = factsOf(this.#options.host.store.reader, runId)?.ask;
    return ask === undefined || (!pi.ending && modelKey(ask.model) === pi.model);
  }

  #changed({ runIds, turnedRunIds, sessionIds }: StoreChange): void {
    const ofSessions = sessionIds.map(runOfHeadlessSession).filter((id) => id !== undefined);
    // A run begins to need a Pi when its status is another; of one that has a seat all is of interest.
    const seated = runIds.filter((runId) => this.#seats.has(runId));
    for (const runId of new Set([...turnedRunIds, ...seated, ...ofSessions])) this.#look(runId);
    this.#settleSoon();
  }

  #look(runId: string): void {
    const { host, paths } = this.#options;
    const { reader } = host.store;
    const seat = this.#seats.get(runId);
    const run = reader.runs.get(runId);
    if (run === undefined) removeSessions(paths.piSessionsDir, runId, host);
    // Most runs need no Pi: they are passed over before anything else is read.
    if (seat === undefined && (run?.mode !== "headless" || run.status !== "waiting")) return;
    const facts = factsOf(reader, runId);
    if (facts === undefined) return;
    const now = host.clock.monotonic();
    if (seat !== undefined) {
      seat.learn(facts, now);
      seat.attached(this.#isAttached(runId), now);
    } else if (facts.ask !== undefined) this.#seats.set(runId, new Seat(facts, now));
  }

  /** Once for all that happens in this turn of the loop. */
  #settleSoon(): void {
    if (this.#settling || this.#closed || this.#seats.size === 0) return;
    this.#settling = true;
    setImmediate(() => {
      this.#settling = false;
      this.#settle();
    });
  }

  #settle(): void {
    if (this.#closed) return;
    const { clock } = this.#options.host;
    for (const [runId, seat] of this.#seats) {
      // A stream that broke changes no row before somebody else holds the session.
      seat.attached(this.#isAttached(runId), clock.monotonic());
      if (seat.isEmpty) this.#seats.delete(runId);
    }
    const seats = [...this.#seats.values()].map((seat) => seat.view());
    const moment = { now: clock.monotonic(), wallNow: clock.now() };
    const { start, end, wakeAt } = planPis(seats, this.#rules, moment);
    for (const { runId, why } of end) this.#with(runId, (seat) => this.#end(seat, why));
    for (const runId of start) this.#with(runId, (seat) => this.#start(seat));
    this.#wake?.cancel();
    this.#wake =
      wakeAt === undefined ? undefined : clock.after(wakeAt - moment.now, () => this.#settleSoon());
  }

  #isAttached(runId: string): boolean {
    return this.#options.sessions
      .attachedSessions()
      .some(({ headlessRun }) => headlessRun === runId);
  }

  #with(runId: string, act: (seat: Seat) => void): void {
    const seat = this.#seats.get(runId);
    if (seat !== undefined) act(seat);
  }

  #start(seat: Seat): void {
    const { host } = this.#options;
    const started = this.#starter.start(seat, {
      onNews: (news) => this.#hear(seat, news),
      onEnd: (exit) => this.#track(this.#ended(seat, exit)),
    });
    if (started.fault !== undefined) {
      this.#failed(seat, started.fault);
      return;
    }
    seat.pi = started.pi;
    const { id, pid } = started.pi.process;
    host.log.info("headless.started", { runId: seat.runId, id, pid });
  }

  #hear(seat: Seat, news: PiNews): void {
    const { pi } = seat;
    if (pi === undefined || pi.ending) return;
    if (news.kind === "state" && !news.hasModel) this.#useless(seat, pi, NO_MODEL);
    if (news.kind === "commands" && !news.hasExtension) {
      if (!pi.withExtension) seat.giveExtension = true;
      this.#useless(seat, pi, NO_EXTENSION);
    }
  }

  #useless(seat: Seat, pi: SeatedPi, fault: string): void {
    pi.fault ??= fault;
    this.#end(seat, "deaf");
  }

  #end(seat: Seat, why: EndReason): void {
    const { pi, runId } = seat;
    if (pi === undefined || pi.ending) return;
    pi.ending = true;
    if (why === "deaf") pi.fault ??= deafFault(HEADLESS_ATTACH_MS / 1_000);
    if (why === "stuck") pi.fault ??= stuckFault(HEADLESS_UNTOUCHED_MS / 1_000);
    const { id, pid } = pi.process;
    this.#options.host.log.info("headless.ending", { runId, id, pid, why: pi.fault ?? why });
    this.#track(this.#endInOrder(runId, pi));
  }

  /** Its turn is closed first: what it reports on its way out then says nothing any more. */
  async #endInOrder(runId: string, pi: SeatedPi): Promise<void> {
    await this.#loseTurns(runId, pi.fault !== undefined);
    await pi.process.end();
  }

  async #ended(seat: Seat, exit: PiExit): Promise<void> {
    const { host, sessions } = this.#options;
    const { pi, runId } = seat;
    if (pi === undefined) return;
    sessions.headlessSecrets.revoke(pi.secret);
    const isFault = !pi.ending || pi.fault !== undefined;
    const { how, lastWords } = exit;
    const fields = { runId, id: pi.process.id, how, ...(isFault ? { lastWords } : {}) };
    host.log[isFault ? "warn" : "info"]("headless.ended", fields);
    await this.#loseTurns(runId, isFault);
    seat.pi = undefined;
    const now = host.clock.monotonic();
    if (!isFault) seat.retryAt = Math.min(seat.retryAt, now);
    else if (pi.served) seat.retryAt = now + (HEADLESS_BACKOFF_MS[0] ?? 0);
    else {
      if (isConflict(exit)) seat.giveExtension = !pi.withExtension;
      const final = pi.fault === NO_MODEL;
      const { fault } = pi;
      const message = fault === undefined ? exitFault(exit) : withLastWords(fault, exit);
      this.#failed(seat, { message, final });
    }
    this.#look(runId);
    this.#settleSoon();
  }

  /** A start came to nothing: it is tried again after a pause, or given up for this step. */
  #failed(seat: Seat, { message, final }: StartFault): void {
    const { host } = this.#options;
    seat.failures += 1;
    const pauseMs = HEADLESS_BACKOFF_MS[seat.failures - 1] ?? HEADLESS_BACKOFF_MS.at(-1) ?? 0;
    seat.retryAt = host.clock.monotonic() + pauseMs;
    const { runId, failures } = seat;
    host.log.warn("headless.start_failed", { runId, failures, reason: message });
    if (final || failures >= HEADLESS_STARTS_MAX) this.#track(this.#giveUp(seat, message));
    else this.#settleSoon();
  }

  async #giveUp({ runId, facts, failures }: Seat, fault: string): Promise<void> {
    const { host } = this.#options;
    const { interactionId } = facts.ask ?? {};
    if (interactionId === undefined) return;
    const node = host.store.reader.interactions.get(interactionId)?.node ?? "";
    const message = unavailable(node, failures, fault);
    try {
      await failForWantOfPi(host, { runId, interactionId, message });
    } catch (error) {
      // The next start fails as well, and then this is written again.
      if (!(error instanceof HostError)) throw error;
      host.log.warn("headless.not_given_up", { runId, error });
    }
    this.#settleSoon();
  }

  async #loseTurns(runId: string, counted: boolean): Promise<void> {
    const { host } = this.#options;
    try {
      await loseTurns(host, { runId, counted });
    } catch (error) {
      // The Pi of the run's next step tells of it when it attaches.
      if (!(error instanceof HostError)) throw error;
      host.log.warn("headless.turn_not_closed", { runId, error });
    }
  }

  #track(work: Promise<unknown>): void {
    this.#ends.add(work);
    work
      .catch((error: unknown) => this.#options.host.log.error("headless.fault", { error }))
      .finally(() => this.#ends.delete(work));
  }
}
