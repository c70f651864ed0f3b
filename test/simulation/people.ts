/** People and programs at their terminals: what they want, and what lies on its way to the host. */
import { ConnectError } from "@connectrpc/connect";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import type { Receipt } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { rejectionOf } from "../../src/client/rejection.ts";
import type { Intent } from "./intents.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";
import type { SimHost } from "./sim-host.ts";

/** After these the same command may still be done, so it is sent again. */
const UNDECIDED: ReadonlySet<Reason> = new Set([
  Reason.HOST_STOPPING,
  Reason.STORAGE_FULL,
  Reason.STORAGE_FAILED,
]);

export class People {
  readonly #random: Random;
  readonly #ledger: Ledger;
  readonly #report: (fault: string) => void;
  readonly #current: () => SimHost | undefined;
  /** On their way. */
  #letters: Intent[] = [];
  /** All that was ever asked. */
  readonly #asked: Intent[] = [];
  /** Sent to a host that has not answered. */
  readonly #open = new Map<Intent, SimHost>();
  #keys = 0;

  constructor(options: {
    readonly random: Random;
    readonly ledger: Ledger;
    readonly report: (fault: string) => void;
    readonly current: () => SimHost | undefined;
  }) {
    this.#random = options.random;
    this.#ledger = options.ledger;
    this.#report = options.report;
    this.#current = options.current;
  }

  get waiting(): number {
    return this.#letters.length + this.#open.size;
  }

  /** What was asked and not answered. */
  get unanswered(): string {
    const open = [...this.#open.keys()].map(inWords);
    return `sent: ${open.join(", ")}; not sent: ${this.#letters.map(inWords).join(", ")}`;
  }

  get hasLetters(): boolean {
    return this.#letters.length > 0;
  }

  key(): string {
    this.#keys += 1;
    return `key-${this.#keys}`;
  }

  wants(intent: Intent): void {
    this.#asked.push(intent);
    this.#letters.push(intent);
  }

  /** Somebody sends again what was sent before, because no answer came or for no reason. */
  repeat(): void {
    const intent = this.#random.pick(this.#asked);
    if (intent !== undefined) this.#letters.push(intent);
  }

  /** What was sent to a host that is gone is sent to the next. */
  hostIsGone(host: SimHost): void {
    for (const [intent, to] of this.#open) {
      if (to !== host) continue;
      this.#open.delete(intent);
      this.#letters.push(intent);
    }
  }

  /** One letter arrives, in whatever order they were sent. */
  deliver(host: SimHost): string {
    const index = this.#random.below(this.#letters.length);
    const [intent] = this.#letters.splice(index, 1);
    if (intent === undefined) return "no letter";
    this.#ledger.asked(intent);
    this.#open.set(intent, host);
    const isFenced = host !== this.#current() && (this.#current()?.epoch ?? 0) > host.epoch;
    void intent.send(host.transport).then(
      (receipt) => this.#answered(intent, host, { receipt, isFenced }),
      (error: unknown) => this.#refused(intent, host, error),
    );
    return `${intent.key} ${intent.subject.kind}`;
  }

  #answered(
    intent: Intent,
    host: SimHost,
    told: { readonly receipt: Receipt | undefined; readonly isFenced: boolean },
  ): void {
    if (host.dead) return;
    const { receipt, isFenced } = told;
    this.#open.delete(intent);
    if (isFenced && receipt?.outcome === Outcome.COMMITTED) {
      this.#report(`${intent.key} was committed by a host whose place another had taken`);
    }
    // An answer may get lost on its way; then it is as if there had been none.
    if (this.#random.chance(0.1)) this.#letters.push(intent);
    else this.#ledger.acknowledged(intent, receipt);
  }

  #refused(intent: Intent, host: SimHost, error: unknown): void {
    if (host.dead) return;
    this.#open.delete(intent);
    const reason = rejectionOf(error)?.reason;
    if (reason === undefined) {
      this.#report(`${intent.key} met ${ConnectError.from(error).message}`);
    } else if (UNDECIDED.has(reason)) this.#letters.push(intent);
  }
}

function inWords({ key, subject }: Intent): string {
  return `${key} ${JSON.stringify(subject)}`;
}
