/** When somebody last wanted something of the host. */
import type { Interceptor } from "@connectrpc/connect";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import type { Clock } from "../platform/clock.ts";

/** Tools that only look keep no host alive. */
const QUIET: ReadonlySet<string> = new Set([ServerReflection.typeName]);

export class Activity {
  readonly #clock: Clock;
  #calls = 0;
  #lastAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastAt = clock.monotonic();
  }

  /** Something is going on now. */
  touch(): void {
    this.#lastAt = this.#clock.monotonic();
  }

  /** How long nothing has gone on. */
  quietMs(): number {
    return this.#calls > 0 ? 0 : this.#clock.monotonic() - this.#lastAt;
  }

  readonly interceptor: Interceptor = (next) => async (request) => {
    if (QUIET.has(request.service.typeName)) return next(request);
    this.#calls += 1;
    try {
      return await next(request);
    } finally {
      this.#calls -= 1;
      this.touch();
    }
  };
}
