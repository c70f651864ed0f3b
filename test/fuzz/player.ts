/** Plays streams at a host, and reads what it says to each. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Target } from "./target.ts";

/** A clean client that was answered so often, while nothing came, has seen the host do its work. */
const ROUNDS_QUIET = 3;
const ROUNDS_MAX = 60;

export interface Played {
  readonly bytes: Buffer;
  readonly answer: Buffer;
  /** The host ended the connection. */
  readonly closed: boolean;
}

/** All of them at once, each on a connection of its own. */
export async function play(target: Target, streams: readonly Buffer[]): Promise<readonly Played[]> {
  const plays = streams.map((bytes) => new Play(target.socket, bytes));
  let quiet = 0;
  for (let round = 0; round < ROUNDS_MAX && quiet < ROUNDS_QUIET; round += 1) {
    const before = heard(plays);
    await target.clean.host.getStatus({});
    await turn();
    quiet = heard(plays) === before && plays.every((one) => one.isSent) ? quiet + 1 : 0;
    if (plays.every((one) => one.closed)) break;
  }
  return plays.map((one) => one.end());
}

function heard(plays: readonly Play[]): number {
  return plays.reduce((sum, one) => sum + one.heard, 0);
}

class Play {
  heard = 0;
  closed = false;
  isSent = false;
  readonly #bytes: Buffer;
  readonly #socket: Socket;
  readonly #answer: Buffer[] = [];

  constructor(path: string, bytes: Buffer) {
    this.#bytes = bytes;
    this.#socket = connect(path);
    this.#socket.on("data", (piece: Buffer) => {
      this.heard += piece.length;
      this.#answer.push(piece);
    });
    this.#socket.on("error", () => this.#over());
    this.#socket.on("close", () => this.#over());
    this.#socket.on("end", () => this.#over());
    this.#socket.write(bytes, () => {
      this.isSent = true;
    });
  }

  end(): Played {
    const { closed } = this;
    this.#socket.destroy();
    return { bytes: this.#bytes, answer: Buffer.concat(this.#answer), closed };
  }

  #over(): void {
    this.closed = true;
    this.isSent = true;
  }
}
