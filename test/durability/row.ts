/** What a row of `docs/durability.md` says; the page is written from rows by `npm run docs:durability`. */
import type { Asked } from "./asked.ts";

/** A test: its file below `test/`, without its ending, and the beginning of its title or of its group's. */
export type Proof = readonly [file: string, title: string];

export interface Row {
  readonly fault: string;
  /** When it strikes. */
  readonly moment: string;
  /** What holds afterwards. */
  readonly promised: string;
  /** What one might expect and does not hold; absent when no such limit is known. */
  readonly notPromised?: string;
  readonly proofs: readonly [Proof, ...Proof[]];
  /** Ids of field cases and scenarios that it answers. */
  readonly cases: readonly string[];
  /** Entries of the overview that it answers. */
  readonly asked?: readonly Asked[];
}

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}
