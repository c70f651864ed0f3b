/** Something outside, as effects meet it: it commits, and may then hold its reply or break off. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export class OutsideService {
  /** Keys in the order in which they were committed. */
  readonly commits: string[] = [];
  /** Most requests that were open at the same time. */
  mostAtOnce = 0;
  /** What happens to the next requests; `hold` keeps the reply back until `release`. */
  mood: "reply" | "hold" | "break" | "lose" = "reply";
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #held = new Set<ServerResponse>();

  async open(): Promise<this> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    return this;
  }

  get url(): string {
    // A server that listens on a port has an address with one.
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Sends the replies that were held back, and holds none any more. */
  release(): void {
    this.mood = "reply";
    for (const response of this.#held) response.end("committed");
    this.#held.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = await text(request);
    if (request.url === "/seen") {
      response.end(this.commits.includes(key) ? "yes" : "no");
      return;
    }
    const { mood } = this;
    if (mood !== "lose") this.commits.push(key);
    if (mood === "break" || mood === "lose") request.socket.destroy();
    else if (mood === "reply") response.end("committed");
    else this.#hold(response);
  }

  #hold(response: ServerResponse): void {
    this.#held.add(response);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#held.size);
    response.once("close", () => this.#held.delete(response));
  }
}
