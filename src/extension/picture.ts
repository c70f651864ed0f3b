/** The host's picture of the session as far as the bridge acts on it: plain data, no wire. */
import type { OwnMessage } from "./pi-port.ts";
import type { BoundTurn } from "./turn-binding.ts";
import type { TurnFact } from "./turn-facts.ts";

export interface Present extends OwnMessage {
  readonly messageId: string;
  /** Absent means all. */
  readonly allowedTools: readonly string[] | undefined;
}

export interface Picture {
  /** A new one with each attachment. */
  readonly attachmentId: string;
  readonly holder: boolean;
  readonly present: Present | undefined;
  /** Message of the turn that is to be stopped. */
  readonly abort: string | undefined;
  readonly openMessageIds: readonly string[];
  /** Message of the turn that is open at the host. */
  readonly openTurn: string | undefined;
}

export interface Evidence {
  readonly messageId: string;
  /** Empty when it is absent. */
  readonly entryId: string;
}

export interface BranchReport {
  readonly messages: readonly Evidence[];
  readonly leafId: string;
  readonly idle: boolean;
  readonly written: boolean;
  readonly turn: BoundTurn | undefined;
}

/** `refused`: the host will never take it. `lost`: it was not reached, or listens no more. */
export type Told = "taken" | "refused" | "lost";

/** Tells the host of one attachment. Never rejects. */
export interface Reporter {
  readonly attachmentId: string;
  branch(report: BranchReport): Promise<Told>;
  turn(fact: TurnFact): Promise<Told>;
}
