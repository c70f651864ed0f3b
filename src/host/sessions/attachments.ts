/** Who has a session open: one attachment that holds it, and others that only look. */
import { HostError } from "../errors.ts";
import { ATTACHMENTS_PER_SESSION_MAX, BEATS_MISSED_MAX } from "../limits.ts";
import { newId } from "../../platform/ids.ts";

/** What a Pi process says of itself when it attaches. */
export interface AttachFacts {
  readonly sessionId: string;
  readonly cwd: string;
  /** Empty for a session that is kept in memory only. */
  readonly sessionFile: string;
  readonly mode: string;
  readonly pid: number;
  /** The run whose own Pi this is. */
  readonly headlessRun?: string;
}

/** One open stream of one Pi process. */
export class Attachment {
  readonly id: string = newId("tch");
  readonly facts: AttachFacts;
  /** May become the holder; a stranger to a headless run's session never does. */
  readonly mayHold: boolean;
  holder = false;
  /** Heartbeats since it was heard last. */
  missed = 0;
  /**
   * Messages that stand on its branch while Pi keeps that in memory only: they are
   * not delivered yet, and not in the way of others.
   */
  readonly unwritten = new Set<string>();
  /** Why its stream is to end. */
  ended: HostError | undefined;
  /** Settles when it is stored that this one holds the session. */
  stored: Promise<unknown> = Promise.resolve();
  /** Tells its stream that something changed. */
  touch: () => void = () => undefined;

  constructor(facts: AttachFacts, mayHold: boolean) {
    this.facts = facts;
    this.mayHold = mayHold;
  }
}

export interface AttachmentsOptions {
  /** Another attachment holds the session from now on. */
  readonly onHolder: (holder: Attachment) => void;
  /** Nobody holds the session any more. */
  readonly onVacant: (sessionId: string) => void;
}

/** Ids of attachments that were fenced are remembered, the newest of them. */
const FENCED_KEPT_MAX = 1_000;

export class Attachments {
  readonly #options: AttachmentsOptions;
  /** By session, in order of arrival. */
  readonly #seats = new Map<string, Attachment[]>();
  readonly #fenced = new Set<string>();

  constructor(options: AttachmentsOptions) {
    this.#options = options;
  }

  get sessionIds(): readonly string[] {
    return [...this.#seats.keys()];
  }

  ofSession(sessionId: string): readonly Attachment[] {
    return this.#seats.get(sessionId) ?? [];
  }

  holderOf(sessionId: string): Attachment | undefined {
    return this.ofSession(sessionId).find((one) => one.holder);
  }

  /** True while it matters to somebody that a holder falls silent. */
  get needBeats(): boolean {
    return [...this.#seats.values()].some((seat) => seat.length > 1 || seat.some(isHeadless));
  }

  /** The first holds the session, a later one stands by or takes it over. */
  join(attachment: Attachment, takeOver: boolean): void {
    const { sessionId } = attachment.facts;
    const seat = this.#seats.get(sessionId) ?? [];
    const held = replaceOwn(seat, attachment);
    const holder = seat.find((one) => one.holder);
    const takes = attachment.mayHold && (holder === undefined || takeOver);
    if (takes && holder !== undefined) this.#fence(seat, holder);
    if (seat.length >= ATTACHMENTS_PER_SESSION_MAX) throw tooMany(sessionId);
    // Before those that wait, if its own broken stream was.
    if (held) seat.unshift(attachment);
    else seat.push(attachment);
    this.#seats.set(sessionId, seat);
    if (takes) this.#hold(attachment);
    else if (held) this.#pass(sessionId, seat);
  }

  /** The attachment's stream is gone; the one that waits longest takes its place. */
  leave(attachment: Attachment): void {
    const { sessionId } = attachment.facts;
    const seat = this.#seats.get(sessionId);
    const index = seat?.indexOf(attachment) ?? -1;
    if (seat === undefined || index < 0) return;
    seat.splice(index, 1);
    if (seat.length === 0) this.#seats.delete(sessionId);
    if (attachment.holder) this.#pass(sessionId, seat);
  }

  /** The holder that reports. Everybody else is refused, and told what to do. */
  requireHolder(sessionId: string, attachmentId: string): Attachment {
    const attachment = this.ofSession(sessionId).find((one) => one.id === attachmentId);
    if (attachment?.holder === true) return attachment;
    if (attachment !== undefined || this.#fenced.has(attachmentId)) throw fenced(sessionId);
    throw ended({ id: attachmentId, facts: { sessionId } });
  }

  /**
   * Called at each heartbeat: a holder that has said nothing for two gives way to a
   * standby. The own Pi of a headless run counts as gone then, also when nobody
   * waits: it is frozen, and only the host is there to notice.
   */
  beat(): void {
    for (const seat of this.#seats.values()) {
      const holder = seat.find((one) => one.holder);
      const next = seat.find((one) => one.mayHold && !one.holder);
      if (holder === undefined || (next === undefined && !isHeadless(holder))) continue;
      holder.missed += 1;
      if (holder.missed <= BEATS_MISSED_MAX) continue;
      if (next === undefined) {
        holder.ended = ended(holder);
        this.leave(holder);
        holder.holder = false;
        holder.touch();
        continue;
      }
      holder.holder = false;
      // The last in the line: when it wakes up it may hold the session again after the others.
      seat.splice(seat.indexOf(holder), 1);
      seat.push(holder);
      this.#hold(next);
      holder.touch();
    }
  }

  /** Nobody holds the session, unless somebody waits who may. */
  #pass(sessionId: string, seat: readonly Attachment[]): void {
    const next = seat.find((one) => one.mayHold);
    if (next === undefined) this.#options.onVacant(sessionId);
    else this.#hold(next);
  }

  #hold(attachment: Attachment): void {
    attachment.holder = true;
    attachment.missed = 0;
    this.#options.onHolder(attachment);
    attachment.touch();
  }

  #fence(seat: Attachment[], holder: Attachment): void {
    holder.holder = false;
    holder.ended = fenced(holder.facts.sessionId);
    seat.splice(seat.indexOf(holder), 1);
    this.#fenced.add(holder.id);
    const [oldest] = this.#fenced;
    if (this.#fenced.size > FENCED_KEPT_MAX && oldest !== undefined) this.#fenced.delete(oldest);
    holder.touch();
  }
}

/**
 * A process whose stream broke attaches again, perhaps before we notice the break:
 * it has one attachment. Says whether the one before held the session.
 */
function replaceOwn(seat: Attachment[], { facts }: Attachment): boolean {
  const index = seat.findIndex((one) => one.facts.pid === facts.pid);
  const [own] = index < 0 ? [] : seat.splice(index, 1);
  if (own === undefined) return false;
  own.ended = fenced(facts.sessionId);
  const held = own.holder;
  own.holder = false;
  own.touch();
  return held;
}

function isHeadless({ facts }: Attachment): boolean {
  return facts.headlessRun !== undefined;
}

function ended({
  id,
  facts: { sessionId },
}: {
  readonly id: string;
  readonly facts: Pick<AttachFacts, "sessionId">;
}): HostError {
  const message = `attachment ${id} of session ${sessionId} has ended; attach again`;
  return new HostError("REQUEST_INVALID", message);
}

function fenced(sessionId: string): HostError {
  const message = `another Pi holds session ${sessionId} now; to take it back, enter /workflow here in this one`;
  return new HostError("SESSION_FENCED", message);
}

function tooMany(sessionId: string): HostError {
  return new HostError(
    "LIMIT_EXCEEDED",
    `session ${sessionId} is open ${ATTACHMENTS_PER_SESSION_MAX} times, which is the most; end one`,
    { limit: ATTACHMENTS_PER_SESSION_MAX, actual: ATTACHMENTS_PER_SESSION_MAX + 1 },
  );
}
