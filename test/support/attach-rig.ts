/** A loop that holds a session, and the streams of the host that the test plays. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import type { HostClient } from "../../src/client/host-client.ts";
import { AttachLoop } from "../../src/extension/attach-loop.ts";
import type { LinkState } from "../../src/extension/session-link.ts";
import { RejectionSchema } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import type { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { AttachResponseSchema } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type {
  AttachRequest,
  AttachResponse,
} from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { FakeClock } from "./fake-clock.ts";

/** One stream of the host that the test plays. */
export class Stream {
  readonly request: Partial<AttachRequest>;
  readonly #signal: AbortSignal;
  readonly #waiting: ((next: AttachResponse | Error | undefined) => void)[] = [];
  readonly #ready: (AttachResponse | Error | undefined)[] = [];
  closed = false;

  constructor(request: Partial<AttachRequest>, signal: AbortSignal) {
    this.request = request;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#next(signal.reason as Error));
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  picture(fields: Partial<AttachResponse> = {}): void {
    const picture = { attachmentId: "tch_1", holder: true, ...fields };
    // A test names plain fields of the message.
    this.#next(create(AttachResponseSchema, picture as AttachResponse));
  }

  fail(error: Error): void {
    this.#next(error);
  }

  end(): void {
    this.#next(undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AttachResponse> {
    for (;;) {
      const next =
        this.#ready.length > 0
          ? this.#ready.shift()
          : await new Promise<AttachResponse | Error | undefined>((resolve) => {
              this.#waiting.push(resolve);
            });
      if (next instanceof Error) throw next;
      if (next === undefined) return;
      yield next;
    }
  }

  #next(next: AttachResponse | Error | undefined): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#ready.push(next);
    else waiting(next);
  }
}

export class AttachRig {
  readonly clock = new FakeClock();
  readonly paths: StatePaths;
  readonly states: LinkState[] = [];
  readonly pictures: AttachResponse[] = [];
  readonly streams: Stream[] = [];
  /** Whether a host was to be started, for each attempt to connect. */
  readonly starts: boolean[] = [];
  readonly loop: AttachLoop;
  closed = 0;
  unreachable: Error | undefined;
  readonly ended: Promise<void>;

  constructor(unreachable?: Error) {
    this.unreachable = unreachable;
    const folder = mkdtempSync(join(tmpdir(), "x-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    this.paths = statePaths({ PI_WORKFLOWS_HOME: folder, HOME: folder });
    this.loop = new AttachLoop({
      facts: { sessionId: "s1", cwd: "/p", sessionFile: "", mode: "tui", pid: 1, secret: "" },
      paths: this.paths,
      clock: this.clock,
      random: () => 0.5,
      connect: async ({ startHost }) => this.#connect(startHost),
      onState: (state) => this.states.push(state),
      onPicture: (picture) => this.pictures.push(picture),
    });
    this.ended = this.loop.run();
    onTestFinished(() => {
      this.loop.close();
      return this.ended;
    });
  }

  get stream(): Stream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error("nothing has attached");
    return stream;
  }

  async passes(ms: number): Promise<void> {
    await this.#rest();
    this.clock.advance(ms);
    await this.#rest();
  }

  async #rest(): Promise<void> {
    for (let round = 0; round < 10; round += 1) await turn();
  }

  #connect(startHost: boolean): HostClient {
    this.starts.push(startHost);
    if (this.unreachable !== undefined) throw this.unreachable;
    const attach = (
      request: Partial<AttachRequest>,
      { signal }: { signal: AbortSignal },
    ): Stream => {
      const stream = new Stream(request, signal);
      this.streams.push(stream);
      return stream;
    };
    // All that the loop uses of a client.
    return { sessions: { attach }, close: () => void (this.closed += 1) } as unknown as HostClient;
  }
}

export function rejection(reason: Reason, message = "refused"): ConnectError {
  const detail = { desc: RejectionSchema, value: create(RejectionSchema, { reason, message }) };
  return new ConnectError(message, Code.FailedPrecondition, undefined, [detail]);
}
