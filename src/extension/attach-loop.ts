/**
 * Holds the session at the host for as long as it can: attaches, listens, and
 * attaches again when the stream broke. A session that another Pi took over is
 * not taken back except by a person's wish.
 */
import { livingHost, readHostFile } from "../client/host-file.ts";
import type { HostClient } from "../client/host-client.ts";
import { isRejectedFor, rejectionOf } from "../client/rejection.ts";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { AttachResponse } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import type { Clock, Timer } from "../platform/clock.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import { backOffMs } from "./back-off.ts";
import type { LinkState } from "./session-link.ts";

/** The host speaks every 10 s; who misses two of them is deaf or gone. */
const SILENCE_MS = 25_000;

export interface SessionFacts {
  readonly sessionId: string;
  readonly cwd: string;
  readonly sessionFile: string;
  readonly mode: string;
  readonly pid: number;
  /** Of a headless run's own Pi; else empty. */
  readonly secret: string;
}

export interface AttachLoopOptions {
  readonly facts: SessionFacts;
  readonly paths: StatePaths;
  readonly clock: Clock;
  readonly random: () => number;
  readonly connect: (how: ConnectHow) => Promise<HostClient>;
  readonly onState: (state: LinkState) => void;
  readonly onPicture: (picture: AttachResponse, attachment: Attachment) => void;
}

export interface ConnectHow {
  readonly startHost: boolean;
  readonly signal: AbortSignal;
}

/** One connection to the host, for as long as its stream is open. */
export interface Attachment {
  readonly client: HostClient;
  readonly signal: AbortSignal;
}

/** A pause that can be ended early. */
interface Pause {
  end(): void;
}

export class AttachLoop {
  readonly #options: AttachLoopOptions;
  #closed = false;
  #takeOver = false;
  /** Somebody does not want to wait for the next attempt. */
  #hurry = false;
  #pause: Pause | undefined;
  #attempt: AbortController | undefined;
  #failures = 0;
  /** The first attachment starts a host; later ones only when the last host died. */
  #wantsHost = true;

  constructor(options: AttachLoopOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    while (!this.#closed) {
      const state = await this.#attachOnce();
      if (this.#isClosed()) return;
      this.#options.onState(state);
      if (state.kind === "fenced") await this.#sleep(undefined);
      else await this.#sleep(backOffMs(this.#failures, this.#options.random()));
    }
  }

  /** Tries again at once, where it was waiting. */
  retryNow(): void {
    this.#failures = 0;
    this.#pause?.end();
  }

  takeOver(): void {
    this.#takeOver = true;
    this.#wantsHost = true;
    this.#hurry = this.#attempt !== undefined;
    this.#attempt?.abort(new Error("attached anew as the holder"));
    this.retryNow();
  }

  close(): void {
    this.#closed = true;
    this.#attempt?.abort(new Error("the session ended"));
    this.#pause?.end();
  }

  /** Returns why it is attached no more. */
  async #attachOnce(): Promise<LinkState> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    let client: HostClient | undefined;
    try {
      const startHost = this.#wantsHost || hostDied(this.#options.paths);
      client = await this.#options.connect({ startHost, signal: attempt.signal });
      this.#wantsHost = false;
      await this.#listen(client, attempt);
      return { kind: "connecting" };
    } catch (error) {
      return this.#stateAfter(error);
    } finally {
      attempt.abort();
      client?.close();
      this.#attempt = undefined;
    }
  }

  async #listen(client: HostClient, attempt: AbortController): Promise<void> {
    const { facts, onPicture, onState } = this.#options;
    const request = { ...facts, takeOver: this.#takeOver };
    let watchdog: Timer | undefined;
    const listenOn = (): void => {
      watchdog?.cancel();
      watchdog = this.#options.clock.after(SILENCE_MS, () => {
        attempt.abort(new Error("the host fell silent"));
      });
    };
    listenOn();
    try {
      for await (const picture of client.sessions.attach(request, { signal: attempt.signal })) {
        if (attempt.signal.aborted) return;
        listenOn();
        this.#failures = 0;
        this.#takeOver = false;
        // A bare sign of life. One that shows the picture too is as good as any.
        if (picture.heartbeat && picture.attachmentId === "") continue;
        onState({ kind: "attached", holder: picture.holder });
        onPicture(picture, { client, signal: attempt.signal });
      }
    } finally {
      watchdog?.cancel();
    }
  }

  #stateAfter(error: unknown): LinkState {
    // Asked for here: a person wants the session, or Pi leaves it.
    if (this.#hurry || this.#closed) return { kind: "connecting" };
    if (isRejectedFor(error, Reason.SESSION_FENCED)) return { kind: "fenced" };
    this.#failures += 1;
    const refusal = rejectionOf(error)?.message;
    const reason = refusal ?? (error instanceof Error ? error.message : String(error));
    return this.#failures === 1 ? { kind: "connecting" } : { kind: "down", reason };
  }

  #isClosed(): boolean {
    return this.#closed;
  }

  async #sleep(ms: number | undefined): Promise<void> {
    if (this.#hurry) {
      this.#hurry = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : this.#options.clock.after(ms, resolve);
      this.#pause = {
        end: () => {
          timer?.cancel();
          resolve();
        },
      };
    });
    this.#pause = undefined;
  }
}

/** A host that stopped in order leaves no file: somebody wanted it to stop. */
function hostDied(paths: StatePaths): boolean {
  return readHostFile(paths) !== undefined && livingHost(paths) === undefined;
}
