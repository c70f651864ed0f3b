/**
 * A Pi that outlives hosts: to the next one it attaches anew, tells all that it
 * knows of its branch and its turn again, and repeats what was not answered.
 */
import { expect, vi } from "vitest";
import type { AttachResponse } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type {
  SessionMessage,
  TurnOutcome,
} from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import type { RealHost } from "./real-host.ts";
import { FakePi } from "./session-rig.ts";
import type { PiFacts } from "./session-rig.ts";
import { PATIENCE_MS } from "./voyage.ts";
import type { CleanUp } from "./real-host.ts";
import type { Voyage } from "./voyage.ts";

export interface LastingPiOptions {
  readonly voyage: Voyage;
  /** What the process says of itself to this host. */
  readonly facts: (host: RealHost) => PiFacts | Promise<PiFacts>;
}

interface Connected {
  readonly host: RealHost;
  readonly pi: FakePi;
}

interface BoundTurn {
  readonly messageId: string;
  readonly running: boolean;
}

export class LastingPi {
  readonly #options: LastingPiOptions;
  /** Entry ids by message: what Pi has on disk. */
  readonly #branch = new Map<string, string>();
  #turn: BoundTurn | undefined;
  #connected: Connected | undefined;

  constructor(options: LastingPiOptions, cleanUp: CleanUp) {
    this.#options = options;
    cleanUp(() => this.#connected?.pi.end());
  }

  /** Attached to this host, which has heard all that there is to tell. */
  async on(host: RealHost): Promise<FakePi> {
    if (this.#connected?.host === host) return this.#connected.pi;
    this.#connected?.pi.end();
    this.#connected = undefined;
    const pi = new FakePi(host.paths.socket, await this.#options.facts(host));
    for (const [messageId, entryId] of this.#branch) pi.branch.set(messageId, entryId);
    try {
      await pi.attach();
      await this.#report(pi);
    } catch (error) {
      pi.end();
      throw error;
    }
    this.#connected = { host, pi };
    return pi;
  }

  /** Asks until a host has answered. */
  ask<T>(call: (pi: FakePi) => Promise<T>): Promise<T> {
    return this.#options.voyage.ask(async (host) => await call(await this.on(host)));
  }

  /** Waits for a picture of which something holds. */
  until(holds: (picture: AttachResponse) => boolean): Promise<AttachResponse> {
    return this.ask(async (pi) => {
      let end: unknown;
      void pi.ended.then((reason) => {
        end = reason ?? new Error("this Pi has left");
      });
      let heard = pi.pictures.length;
      const look = async (): Promise<boolean> => {
        if (end !== undefined || holds(pi.picture)) return true;
        const isAsked = pi.pictures.slice(heard).some(({ heartbeat }) => heartbeat);
        heard = pi.pictures.length;
        // A Pi that does not answer counts as frozen.
        if (isAsked) await this.#report(pi);
        return false;
      };
      await vi.waitUntil(look, { timeout: PATIENCE_MS, interval: 5 });
      if (!holds(pi.picture)) throw end as Error;
      return pi.picture;
    });
  }

  /** Shows the next message, which is of this node, and lets its turn begin. */
  async take(node: string): Promise<SessionMessage> {
    const isNew = ({ present }: AttachResponse): boolean =>
      present !== undefined && !this.#branch.has(present.messageId);
    const { present: message } = await this.until(isNew);
    if (message === undefined) throw new Error("nothing is to be shown");
    expect(message.node).toBe(node);
    const { messageId, startsTurn } = message;
    this.#branch.set(messageId, `entry-${this.#branch.size + 1}`);
    if (startsTurn) {
      this.#turn = { messageId, running: true };
      await this.ask((pi) => pi.client.reportTurn({ ...pi.name, messageId }));
    }
    await this.ask((pi) => this.#report(pi));
    return message;
  }

  /** The turn on the message ends. */
  async settle({ messageId }: SessionMessage, outcome: TurnOutcome, reply = ""): Promise<void> {
    this.#turn = { messageId, running: false };
    const told = { messageId, outcome, replyText: reply, replyWhole: reply !== "" };
    const entryId = this.#branch.get(messageId) ?? "";
    await this.ask((pi) => pi.client.reportTurn({ ...pi.name, ...told, entryId }));
    this.#turn = undefined;
  }

  /** The process ends; who opens the session next finds what is on disk. */
  async leave(): Promise<void> {
    this.vanish();
    await vi.waitUntil(
      async () => {
        const { attachedStreams } = await this.#options.voyage.ask(({ host }) =>
          host.getStatus({}),
        );
        return attachedStreams === 0;
      },
      { timeout: PATIENCE_MS, interval: 10 },
    );
  }

  /** The process ends, and nobody has noticed yet. */
  vanish(): void {
    this.#connected?.pi.end();
    this.#connected = undefined;
    this.#turn = undefined;
  }

  async #report(pi: FakePi): Promise<void> {
    for (const [messageId, entryId] of this.#branch) pi.branch.set(messageId, entryId);
    const turn = this.#turn;
    const idle = turn?.running !== true;
    await pi.report(turn === undefined ? { idle } : { idle, turn });
  }
}
