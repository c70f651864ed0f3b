/** Joins sessions to the store: who holds them, what changed, what falls due. */
import type { Timer } from "../../platform/clock.ts";
import type { HostContext } from "../context.ts";
import { HostError } from "../errors.ts";
import { HEARTBEAT_MS } from "../limits.ts";
import type { Evidence } from "../operations/branch.ts";
import { headlessSession, runOfHeadlessSession } from "../operations/headless-session.ts";
import { offerNext } from "../operations/session-rows.ts";
import { attachSession, detachSession } from "../operations/sessions.ts";
import type { SessionFacts } from "../operations/sessions.ts";
import type { StoreChange } from "../store/store.ts";
import { Attachment, Attachments } from "./attachments.ts";
import type { AttachFacts } from "./attachments.ts";
import { HeadlessSecrets } from "./headless-secrets.ts";
import { pictureOf } from "./picture.ts";
import type { SessionPicture } from "./picture.ts";

/** What a client asks for when it attaches. */
export interface AttachRequest extends Omit<AttachFacts, "headlessRun"> {
  readonly takeOver: boolean;
  /** Empty but for the Pi of a headless run. */
  readonly secret: string;
}

/** A session that somebody holds now. */
export interface AttachedSession {
  readonly sessionId: string;
  readonly pid: number;
  readonly mode: string;
  readonly headlessRun?: string;
  /** Further Pi processes that have it open. */
  readonly standbys: number;
}

/** Clocks drift by less; more is somebody who sets one. */
const WALL_STEP_MS = 1_000;

export class SessionHub {
  readonly headlessSecrets = new HeadlessSecrets();
  readonly #host: HostContext;
  /** False for a while: the Pi that has the session is about to make way for another. */
  readonly #mayShow: (sessionId: string) => boolean;
  readonly #attachments: Attachments;
  /** Sessions whose next message is to be chosen in this turn of the loop, … */
  readonly #dirty = new Set<string>();
  /** … and runs whose sessions are among them. */
  readonly #dirtyRuns = new Set<string>();
  /** Sessions whose next message could not be handed over. */
  readonly #unoffered = new Set<string>();
  /** When the end of a session's run stops being news. */
  readonly #news = new Map<string, Timer>();
  readonly #writes = new Set<Promise<unknown>>();
  #unsubscribe: (() => void) | undefined;
  #beating: Timer | undefined;
  #due: Timer | undefined;
  #wallAhead: number;
  #closed = false;

  constructor(host: HostContext, mayShow: (sessionId: string) => boolean = () => true) {
    this.#host = host;
    this.#mayShow = mayShow;
    this.#wallAhead = host.clock.now() - host.clock.monotonic();
    this.#attachments = new Attachments({
      onHolder: (holder) => this.#held(holder),
      onVacant: (sessionId) => this.#vacant(sessionId),
    });
  }

  start(): void {
    this.#unsubscribe = this.#host.store.subscribe((change) => this.#changed(change));
  }

  /** Offers nothing more; whatever is being written is waited for. */
  async stop(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe?.();
    this.#beating?.cancel();
    this.#due?.cancel();
    for (const timer of this.#news.values()) timer.cancel();
    await Promise.allSettled(this.#writes);
  }

  attachedSessions(): readonly AttachedSession[] {
    return this.#attachments.sessionIds.flatMap((sessionId) => {
      const holder = this.#attachments.holderOf(sessionId);
      if (holder === undefined) return [];
      const { pid, mode, headlessRun } = holder.facts;
      const standbys = this.#attachments.ofSession(sessionId).length - 1;
      const session = { sessionId, pid, mode, standbys };
      return [headlessRun === undefined ? session : { ...session, headlessRun }];
    });
  }

  /** Resolves once it is stored who holds the session. */
  async attach({ takeOver, secret, ...facts }: AttachRequest): Promise<Attachment> {
    const attachment = this.#attachmentOf(facts, secret);
    this.#attachments.join(attachment, takeOver);
    this.#keepTime();
    try {
      await attachment.stored;
    } catch (error) {
      this.detach(attachment);
      throw error;
    }
    return attachment;
  }

  detach(attachment: Attachment): void {
    this.#attachments.leave(attachment);
    this.#keepTime();
  }

  /** The holder, which has just been heard. Refuses everybody else. */
  hear(sessionId: string, attachmentId: string): Attachment {
    const holder = this.#attachments.requireHolder(sessionId, attachmentId);
    holder.missed = 0;
    if (this.#unoffered.delete(sessionId)) this.#poke(sessionId);
    this.#checkWall();
    return holder;
  }

  /** A wall clock that was set forward makes things due without a timer of ours. */
  #checkWall(): void {
    const { clock } = this.#host;
    const ahead = clock.now() - clock.monotonic();
    if (Math.abs(ahead - this.#wallAhead) < WALL_STEP_MS) return;
    this.#wallAhead = ahead;
    for (const sessionId of this.#attachments.sessionIds) this.#poke(sessionId);
    this.#armDue();
  }

  picture({ facts: { sessionId } }: Attachment): SessionPicture {
    const { store, clock } = this.#host;
    const seen = { now: clock.now(), unwritten: this.#unwrittenOf(sessionId) };
    const picture = pictureOf(store.reader, sessionId, seen);
    this.#forgetLater(sessionId, picture.endedUntil);
    return picture;
  }

  /** What stands on the holder's branch, and whether Pi has that on disk. */
  sawBranch(holder: Attachment, messages: readonly Evidence[], written: boolean): void {
    const { unwritten, facts } = holder;
    const before = [...unwritten].join();
    if (written) unwritten.clear();
    for (const { messageId, entryId } of written ? [] : messages) {
      if (entryId === undefined) unwritten.delete(messageId);
      else unwritten.add(messageId);
    }
    if ([...unwritten].join() !== before) this.#poke(facts.sessionId);
  }

  #unwrittenOf(sessionId: string): ReadonlySet<string> {
    return this.#attachments.holderOf(sessionId)?.unwritten ?? new Set();
  }

  #attachmentOf(facts: AttachFacts, secret: string): Attachment {
    const { sessionId, pid } = facts;
    const runId = this.headlessSecrets.redeem(secret, { sessionId, pid });
    const isOwn = runId !== undefined && sessionId === headlessSession(runId);
    if (isOwn) return new Attachment({ ...facts, headlessRun: runId }, true);
    // A headless run's session belongs to its own Pi; whoever else opens it may look.
    return new Attachment(facts, !this.#isHeadless(sessionId));
  }

  /** Also before the run's first step has made its session: nobody takes the place of its Pi. */
  #isHeadless(sessionId: string): boolean {
    const { sessions, runs } = this.#host.store.reader;
    if (sessions.get(sessionId)?.headlessRun !== undefined) return true;
    const runId = runOfHeadlessSession(sessionId);
    return runId !== undefined && runs.get(runId)?.mode === "headless";
  }

  #held(holder: Attachment): void {
    const { sessionId, cwd, sessionFile, headlessRun } = holder.facts;
    const facts: SessionFacts = {
      sessionId,
      cwd,
      sessionFile,
      ...(headlessRun === undefined ? {} : { headlessRun }),
    };
    holder.stored = attachSession(this.#host, facts);
    this.#store(holder.stored, sessionId);
  }

  #vacant(sessionId: string): void {
    this.#store(detachSession(this.#host, sessionId), sessionId);
  }

  /** Whoever attaches waits for it; of a change that nobody waits for a fault is only told. */
  #store(write: Promise<unknown>, sessionId: string): void {
    this.#track(
      write.catch((error: unknown) => {
        if (!this.#closed) this.#host.log.warn("session.holder_unrecorded", { sessionId, error });
      }),
    );
  }

  /** A stop waits for it; it never rejects. */
  #track(write: Promise<unknown>): void {
    this.#writes.add(write);
    void write.finally(() => this.#writes.delete(write));
  }

  #changed({ runIds, sessionIds }: StoreChange): void {
    if (this.#attachments.sessionIds.length === 0) return;
    this.#flushSoon();
    for (const runId of runIds) this.#dirtyRuns.add(runId);
    for (const sessionId of sessionIds) this.#dirty.add(sessionId);
    // What waits for a time is a row of a session; transitions of runs bring none.
    if (sessionIds.length > 0) this.#armDue();
  }

  /** Chooses what the session is shown next, then shows its attachments what is there. */
  #poke(sessionId: string): void {
    this.#flushSoon();
    this.#dirty.add(sessionId);
  }

  /** After what was committed has been answered: nobody waits for a picture as a worker does. */
  #flushSoon(): void {
    if (this.#dirty.size + this.#dirtyRuns.size === 0) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#closed) return;
    const { runs } = this.#host.store.reader;
    const origins = [...this.#dirtyRuns].map((runId) => runs.get(runId)?.originSession ?? "");
    const sessionIds = new Set([...this.#dirty, ...origins]);
    this.#dirty.clear();
    this.#dirtyRuns.clear();
    for (const sessionId of this.#attachments.sessionIds) {
      if (sessionIds.has(sessionId)) this.#track(this.#offer(sessionId));
    }
  }

  /** A message that is handed over is a change, which comes back here: one picture shows both. */
  async #offer(sessionId: string): Promise<void> {
    try {
      const isHeld = this.#attachments.holderOf(sessionId) !== undefined;
      const mayOffer = isHeld && this.#mayShow(sessionId);
      const unwritten = this.#unwrittenOf(sessionId);
      if (mayOffer && (await offerNext(this.#host, sessionId, unwritten))) return;
    } catch (error) {
      this.#putOff(sessionId, error);
    }
    for (const attachment of this.#attachments.ofSession(sessionId)) attachment.touch();
  }

  /** A store that cannot write now is asked again at the session's next report. */
  #putOff(sessionId: string, error: unknown): void {
    this.#unoffered.add(sessionId);
    if (error instanceof HostError) return;
    this.#host.log.error("session.unoffered", { sessionId, error });
  }

  /** One timer for the first message or session that waits for a time. */
  #armDue(): void {
    this.#due?.cancel();
    this.#due = undefined;
    if (this.#closed || this.#attachments.sessionIds.length === 0) return;
    const { clock, store } = this.#host;
    const now = clock.now();
    const times = [
      store.reader.messages.nextAvailableAt(now),
      store.reader.sessions.nextHeldUntil(now),
    ].filter((time) => time !== undefined);
    if (times.length === 0) return;
    this.#due = clock.after(Math.min(...times) - now, () => {
      for (const sessionId of this.#attachments.sessionIds) this.#poke(sessionId);
      this.#armDue();
    });
  }

  #forgetLater(sessionId: string, until: number | undefined): void {
    if (until === undefined || this.#closed || this.#news.has(sessionId)) return;
    const { clock } = this.#host;
    const timer = clock.after(until - clock.now(), () => {
      this.#news.delete(sessionId);
      this.#poke(sessionId);
    });
    this.#news.set(sessionId, timer);
  }

  /** Silence is only looked for where somebody waits for it; idle sessions cost nothing. */
  #keepTime(): void {
    if (this.#closed || !this.#attachments.needBeats) {
      this.#beating?.cancel();
      this.#beating = undefined;
    } else {
      this.#beating ??= this.#host.clock.every(HEARTBEAT_MS, () => this.#attachments.beat());
    }
    this.#armDue();
  }
}
