/** A Pi process with one session open: it writes what it is shown, and its model works on it. */
import { createClient } from "@connectrpc/connect";
import type { Client } from "@connectrpc/connect";
import { TurnErrorKind, TurnOutcome } from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { SessionService } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type { AttachResponse } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type { Random } from "./random.ts";
import type { SimHost } from "./sim-host.ts";

interface Entry {
  readonly entryId: string;
  readonly messageId: string;
}

interface Turn {
  readonly messageId: string;
  readonly entryId: string;
}

/** The session's file: it outlives the Pi that has it open. */
export interface SessionFile {
  readonly sessionId: string;
  branch: Entry[];
}

export interface PiOptions {
  readonly file: SessionFile;
  readonly pid: number;
  readonly takeOver: boolean;
  readonly random: Random;
  readonly report: (fault: string) => void;
  /** Grows with every step of the world: what was on its way before has arrived since. */
  readonly step: () => number;
}

const ENDINGS = [
  TurnOutcome.COMPLETED,
  TurnOutcome.COMPLETED,
  TurnOutcome.COMPLETED,
  TurnOutcome.ABORTED,
  TurnOutcome.FAILED,
];

export class SimPi {
  readonly file: SessionFile;
  /** Nothing fails any more. */
  calm = false;
  dead = false;
  readonly #options: PiOptions;
  /** Messages of which the host has acknowledged that they stand on the branch, and in which step. */
  readonly #reported = new Map<string, number>();
  #host: SimHost | undefined;
  #sessions: Client<typeof SessionService> | undefined;
  #stream = new AbortController();
  #picture: AttachResponse | undefined;
  #turn: Turn | undefined;
  #entries = 0;

  constructor(options: PiOptions) {
    this.#options = options;
    this.file = options.file;
  }

  get isAttached(): boolean {
    return this.#sessions !== undefined && this.#host?.dead === false;
  }

  get isHolder(): boolean {
    return this.#picture?.holder === true;
  }

  get capability(): string {
    return this.#picture?.capability ?? "";
  }

  attach(host: SimHost): void {
    this.leave();
    this.#host = host;
    this.#stream = new AbortController();
    const sessions = createClient(SessionService, host.transport);
    this.#sessions = sessions;
    void this.#watch(host, sessions, this.#stream.signal);
  }

  /** Its stream breaks. */
  leave(): void {
    this.#stream.abort();
    this.#sessions = undefined;
    this.#picture = undefined;
    this.#reported.clear();
  }

  die(): void {
    this.leave();
    this.#turn = undefined;
    this.dead = true;
  }

  /** Goes back in its tree: the newest entries are on another branch now. */
  goBack(): void {
    const left = this.file.branch.splice(this.#options.random.below(this.file.branch.length + 1));
    for (const { messageId } of left) this.#reported.delete(messageId);
    if (left.some(({ messageId }) => messageId === this.#turn?.messageId)) this.#turn = undefined;
  }

  /** One thing of those that a Pi does with what it is shown. */
  async acts(): Promise<void> {
    const { random } = this.#options;
    if (!this.isAttached || !this.isHolder) return;
    const isShown = this.#write();
    if (isShown && !this.calm && random.chance(0.2)) return;
    if (this.#turn === undefined) this.#beginTurn();
    if (this.#turn !== undefined && random.chance(0.5)) await this.#endTurn(this.#turn);
    await this.#report();
  }

  async #watch(
    host: SimHost,
    sessions: Client<typeof SessionService>,
    signal: AbortSignal,
  ): Promise<void> {
    const { pid, takeOver, file } = this.#options;
    const { sessionId } = file;
    const request = { sessionId, cwd: "/project", sessionFile: `/sessions/${sessionId}.jsonl` };
    try {
      const asked = { ...request, mode: "tui", pid, takeOver, secret: "" };
      for await (const picture of sessions.attach(asked, { signal })) {
        if (signal.aborted || host.dead) return;
        this.#picture = picture;
        this.#check(picture);
      }
    } catch {
      // Fenced by another Pi, or the host is gone: it may attach again.
    }
    if (this.#host === host && !signal.aborted) this.#sessions = undefined;
  }

  /** What stands there and was reported is not shown again. */
  #check({ present }: AttachResponse): void {
    const reportedIn = this.#reported.get(present?.messageId ?? "");
    if (present === undefined || reportedIn === undefined) return;
    if (reportedIn >= this.#options.step()) return;
    const { sessionId } = this.file;
    this.#options.report(`message ${present.messageId} is shown again in session ${sessionId}`);
  }

  #write(): boolean {
    const { present } = this.#picture ?? {};
    if (present === undefined) return false;
    const { messageId } = present;
    if (this.file.branch.some((entry) => entry.messageId === messageId)) return false;
    this.#entries += 1;
    const entryId = `${this.#options.pid}-${this.#entries}`;
    this.file.branch.push({ entryId, messageId });
    if (present.startsTurn) this.#turn ??= { messageId, entryId };
    return true;
  }

  #beginTurn(): void {
    const open = this.#picture?.openTurn ?? "";
    const entry = this.file.branch.find(({ messageId }) => messageId === open);
    if (entry !== undefined && this.#options.random.chance(0.2)) this.#turn = entry;
  }

  async #endTurn(turn: Turn): Promise<void> {
    const { random, file } = this.#options;
    const failing = random.pick(ENDINGS) ?? TurnOutcome.COMPLETED;
    const outcome = this.calm ? TurnOutcome.COMPLETED : failing;
    const kind = random.chance(0.5) ? TurnErrorKind.RATE_LIMIT : TurnErrorKind.OTHER;
    const error = { kind, message: "the provider said no" };
    this.#turn = undefined;
    await this.#call((sessions, attachmentId) =>
      sessions.reportTurn({
        sessionId: file.sessionId,
        attachmentId,
        messageId: turn.messageId,
        entryId: turn.entryId,
        outcome,
        replyText: `a reply to ${turn.messageId}`,
        replyWhole: true,
        ...(outcome === TurnOutcome.FAILED ? { error } : {}),
      }),
    );
  }

  async #report(): Promise<void> {
    const { openMessageIds = [], present } = this.#picture ?? {};
    const asked = [...new Set([...openMessageIds, ...(present ? [present.messageId] : [])])];
    const messages = asked.map((messageId) => {
      const entry = this.file.branch.find((one) => one.messageId === messageId);
      return { messageId, entryId: entry?.entryId ?? "" };
    });
    const turn = this.#turn;
    const isTold = await this.#call((sessions, attachmentId) =>
      sessions.reportBranch({
        sessionId: this.file.sessionId,
        attachmentId,
        messages,
        leafId: this.file.branch.at(-1)?.entryId ?? "",
        idle: turn === undefined,
        written: true,
        ...(turn === undefined ? {} : { turn: { messageId: turn.messageId, running: true } }),
      }),
    );
    if (!isTold) return;
    for (const { messageId } of messages.filter(({ entryId }) => entryId !== "")) {
      const stands = this.file.branch.some((one) => one.messageId === messageId);
      if (stands) this.#reported.set(messageId, this.#options.step());
    }
  }

  /** True when the host has acknowledged it. */
  async #call(
    send: (sessions: Client<typeof SessionService>, attachmentId: string) => Promise<unknown>,
  ): Promise<boolean> {
    const [sessions, host] = [this.#sessions, this.#host];
    const { attachmentId = "" } = this.#picture ?? {};
    if (sessions === undefined || host === undefined) return false;
    try {
      await send(sessions, attachmentId);
      return !host.dead;
    } catch {
      return false;
    }
  }
}
