/** Which Pi is started and which is ended, from what is known at one moment: no clock, no processes. */
import type { RunFacts } from "./run-facts.ts";

/** What the manager holds for a run. */
export interface SeatView extends RunFacts {
  /** Key of the model that the step wants; empty when nothing is asked. */
  readonly wantedModel: string;
  /** `none`: no process; `up`: one that runs; `ending`: one that is on its way out. */
  readonly process: "none" | "up" | "ending";
  /** Key of the model the process was started with. */
  readonly model: string;
  /** When its standing or turn changed last, and so since when it has been as it is. Monotonic. */
  readonly since: number;
  /** Since when the process has not been attached; absent while it is. Monotonic. */
  readonly deafSince: number | undefined;
  /** Not started before: the pause after a start that failed. Monotonic. */
  readonly retryAt: number;
}

export type EndReason =
  | "cancelled"
  | "not needed"
  | "place needed"
  | "another model"
  | "provider waited for"
  /** It has not attached in time, or attached and takes no step: counts as a failed start. */
  | "deaf"
  | "stuck";

export interface Plan {
  readonly start: readonly string[];
  readonly end: readonly { readonly runId: string; readonly why: EndReason }[];
  /** When time alone will change something. Monotonic. */
  readonly wakeAt: number | undefined;
}

export interface PlanRules {
  /** Processes at the same time. */
  readonly places: number;
  /** How long a Pi is kept between two steps. */
  readonly keepMs: number;
  /** How long a model may finish what it says after the run's end. */
  readonly farewellMs: number;
  /** How long a Pi may take to attach. */
  readonly attachMs: number;
  /** How long an attached Pi may leave a due step untouched. */
  readonly untouchedMs: number;
}

export interface Moment {
  /** Monotonic; everything here is compared with it but `dueAt`. */
  readonly now: number;
  /** The wall clock at the same moment, for `dueAt`. */
  readonly wallNow: number;
}

export function planPis(seats: readonly SeatView[], rules: PlanRules, moment: Moment): Plan {
  const wakes: number[] = [];
  const end = seats.flatMap((seat) => {
    const verdict = seat.process === "up" ? judge(seat, rules, moment) : undefined;
    if (verdict === undefined) return [];
    if (verdict.at > moment.now) {
      wakes.push(verdict.at);
      return [];
    }
    return [{ runId: seat.runId, why: verdict.why }];
  });
  const waiting = seats.filter((seat) => seat.process === "none" && seat.ask !== undefined);
  const ready = waiting.filter((seat) => startAt(seat, moment) <= moment.now).toSorted(byAge);
  for (const seat of waiting) wakes.push(startAt(seat, moment));

  const taken = seats.filter((seat) => seat.process !== "none");
  const start = ready.slice(0, Math.max(0, rules.places - taken.length));
  const leaving = taken.filter((seat) => isLeaving(seat, end)).length;
  const short = ready.length - start.length - leaving;
  return {
    start: start.map(({ runId }) => runId),
    end: [...end, ...evicted(seats, end, short)],
    wakeAt: earliest(wakes, moment.now),
  };
}

interface Verdict {
  readonly why: EndReason;
  /** When it is to end. */
  readonly at: number;
}

/** When a running Pi is to end, and why; absent when nothing says that it should. */
function judge(seat: SeatView, rules: PlanRules, moment: Moment): Verdict | undefined {
  const { standing, turnOpen, since, ask } = seat;
  if (standing === "gone") return { why: "cancelled", at: moment.now };
  if (standing === "over") {
    return { why: "not needed", at: turnOpen ? since + rules.farewellMs : moment.now };
  }
  // What a model still says after its result was accepted is part of the session.
  if (turnOpen) return deafness(seat, rules);
  if (ask === undefined) return { why: "not needed", at: since + rules.keepMs };
  if (seat.model !== seat.wantedModel) return { why: "another model", at: moment.now };
  const dueIn = ask.dueAt - moment.wallNow;
  if (dueIn > rules.keepMs) return { why: "provider waited for", at: moment.now };
  const untouched = Math.max(since, moment.now + dueIn) + rules.untouchedMs;
  return deafness(seat, rules) ?? { why: "stuck", at: untouched };
}

function deafness({ deafSince }: SeatView, { attachMs }: PlanRules): Verdict | undefined {
  return deafSince === undefined ? undefined : { why: "deaf", at: deafSince + attachMs };
}

function startAt({ ask, retryAt }: SeatView, { now, wallNow }: Moment): number {
  return Math.max(retryAt, now + Math.max(0, (ask?.dueAt ?? 0) - wallNow));
}

/** The step that has waited longest goes first. */
function byAge(one: SeatView, other: SeatView): number {
  return (one.ask?.position ?? 0) - (other.ask?.position ?? 0);
}

function isLeaving(seat: SeatView, end: Plan["end"]): boolean {
  return seat.process === "ending" || end.some(({ runId }) => runId === seat.runId);
}

/** Pis that are only kept, the longest kept first, make way for steps that wait. */
function evicted(seats: readonly SeatView[], end: Plan["end"], count: number): Plan["end"] {
  return seats
    .filter((seat) => seat.process === "up" && seat.ask === undefined && !seat.turnOpen)
    .filter((seat) => !isLeaving(seat, end))
    .toSorted((one, other) => one.since - other.since)
    .slice(0, Math.max(0, count))
    .map(({ runId }) => ({ runId, why: "place needed" }));
}

function earliest(times: readonly number[], now: number): number | undefined {
  const later = times.filter((time) => time > now);
  return later.length === 0 ? undefined : Math.min(...later);
}
