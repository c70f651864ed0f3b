/** Deaths of the host on the ways of runs through Pi sessions. */
import type { PointOfDeath } from "./deaths.ts";
import type { SessionJourneyName } from "./session-voyage.ts";

export interface SessionDeath {
  readonly on: SessionJourneyName;
  /** Number of the host that dies, when it is not the first. */
  readonly host?: number;
  /** Deaths with the same word befall the same voyages, and no others do. */
  readonly apart?: string;
}

/** The transitions that only sessions bring about, each with a way on which it is committed. */
export const SESSION_TRANSITIONS: Readonly<Record<string, SessionDeath>> = {
  attach_session: { on: "confers" },
  offer: { on: "confers" },
  branch: { on: "confers" },
  turn_opened: { on: "confers" },
  turn_ended: { on: "confers" },
  SubmitResult: { on: "confers" },
  reject: { on: "confers" },
  AnswerDecision: { on: "confers" },
  AdoptRun: { on: "moves" },
  detach_session: { on: "returns" },
  // The first host dies with a session attached.
  detach_sessions: { on: "returns", host: 2 },
  result: { on: "untold", host: 2 },
  headless_turns_lost: { on: "losesPi" },
  headless_unavailable: { on: "findsNoPi" },
};

const ASKED: SessionDeath = { on: "confers", apart: "asked and accepted" };
const REPLYING: SessionDeath = { on: "confers", apart: "replying" };
const REPLIED: SessionDeath = { on: "confers", apart: "replied" };

/** Transitions that other runs know too, where they do more for a session; the second turn's end is the reply. */
const FURTHER: readonly PointOfDeath<SessionDeath>[] = [
  { point: "commit.before:wait", death: ASKED },
  { point: "commit.after:wait", death: ASKED },
  { point: "commit.before:advance", death: ASKED },
  { point: "commit.after:advance", death: ASKED },
  { point: "commit.before:turn_ended#2", death: REPLYING },
  { point: "commit.before:finish", death: REPLYING },
  { point: "commit.after:turn_ended#2", death: REPLIED },
  { point: "commit.after:finish", death: REPLIED },
];

export const SESSION_DEATHS: readonly PointOfDeath<SessionDeath>[] = [
  ...["commit.before", "commit.after"].flatMap((point) =>
    Object.entries(SESSION_TRANSITIONS).map(([name, death]) => ({
      point: `${point}:${name}`,
      death,
    })),
  ),
  ...FURTHER,
];
