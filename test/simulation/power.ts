/** When the power goes: at which COMMIT, and what is then on the disk. */
import { beforeCommit, copyState, copyTorn } from "./state-image.ts";
import type { BeforeCommit } from "./state-image.ts";
import type { Random } from "./random.ts";

export type CrashKind = "before" | "torn" | "after";

interface Armed {
  readonly kind: CrashKind;
  /** Commits that go well first. */
  left: number;
  before?: BeforeCommit;
}

/** Writes what the crash leaves into another folder. */
export type LeaveImage = (to: string) => void;

export class Power {
  readonly #random: Random;
  #armed: Armed | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** It goes at a COMMIT soon. */
  arm(kind: CrashKind, commits: number): void {
    this.#armed = { kind, left: commits };
  }

  disarm(): void {
    this.#armed = undefined;
  }

  /** A host is at a COMMIT: what it leaves if that is its last moment. */
  at(folder: string, point: "commit.before" | "commit.after"): LeaveImage | undefined {
    const armed = this.#armed;
    if (armed === undefined) return undefined;
    if (point === "commit.before" && armed.kind === "torn" && armed.left === 0) {
      armed.before = beforeCommit(folder);
    }
    if ((point === "commit.before") !== (armed.kind === "before")) return undefined;
    if (armed.left > 0) {
      armed.left -= 1;
      return undefined;
    }
    this.#armed = undefined;
    const { before } = armed;
    const torn = { share: this.#random.next(), zeros: this.#random.chance(0.3) };
    return (to) => {
      if (before === undefined) copyState(folder, to);
      else copyTorn(folder, to, { before, ...torn });
    };
  }
}
