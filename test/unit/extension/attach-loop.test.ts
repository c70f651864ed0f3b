import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HostClient } from "../../../src/client/host-client.ts";
import { AttachLoop } from "../../../src/extension/attach-loop.ts";
import type { LinkState } from "../../../src/extension/session-link.ts";
import { Reason, RejectionSchema } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { AttachResponseSchema } from "../../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type {
  AttachRequest,
  AttachResponse,
} from "../../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { statePaths } from "../../../src/platform/state-folder.ts";
import type { StatePaths } from "../../../src/platform/state-folder.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** One stream of the host that the test plays. */
class Stream {
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

class Rig {
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

function rejection(reason: Reason, message = "refused"): ConnectError {
  const detail = { desc: RejectionSchema, value: create(RejectionSchema, { reason, message }) };
  return new ConnectError(message, Code.FailedPrecondition, undefined, [detail]);
}

async function attached(): Promise<Rig> {
  const rig = new Rig();
  await rig.passes(0);
  rig.stream.picture();
  await rig.passes(0);
  return rig;
}

describe("attaching", () => {
  test("starts a host, says who attaches, and hands on the picture", async () => {
    const rig = await attached();
    expect(rig.starts).toEqual([true]);
    expect(rig.stream.request).toMatchObject({ sessionId: "s1", mode: "tui", takeOver: false });
    expect(rig.pictures).toHaveLength(1);
    expect(rig.states).toEqual([{ kind: "attached", holder: true }]);
  });

  test("as a standby is told", async () => {
    const rig = new Rig();
    await rig.passes(0);
    rig.stream.picture({ holder: false });
    await rig.passes(0);
    expect(rig.states).toEqual([{ kind: "attached", holder: false }]);
  });

  test("a heartbeat is no picture", async () => {
    const rig = await attached();
    rig.stream.picture({ heartbeat: true });
    await rig.passes(0);
    expect(rig.pictures).toHaveLength(1);
  });
});

describe("a stream that breaks", () => {
  test.each([
    ["ends", (stream: Stream) => stream.end()],
    [
      "is cancelled by a dying host",
      (stream: Stream) => stream.fail(new ConnectError("", Code.Canceled)),
    ],
    [
      "finds no host any more",
      (stream: Stream) => stream.fail(new ConnectError("", Code.Unavailable)),
    ],
    [
      "belongs to a stopping host",
      (stream: Stream) => stream.fail(rejection(Reason.HOST_STOPPING)),
    ],
  ])("because it %s is opened again", async (_, breaks) => {
    const rig = await attached();
    breaks(rig.stream);
    await rig.passes(0);
    expect(rig.states.at(-1)).toEqual({ kind: "connecting" });
    expect(rig.closed).toBe(1);
    await rig.passes(250);
    expect(rig.streams).toHaveLength(2);
    rig.stream.picture();
    await rig.passes(0);
    expect(rig.states.at(-1)).toEqual({ kind: "attached", holder: true });
  });

  test("because nothing was heard for long is opened again", async () => {
    const rig = await attached();
    await rig.passes(20_000);
    rig.stream.picture({ heartbeat: true });
    await rig.passes(0);
    await rig.passes(24_999);
    expect(rig.stream.aborted).toBe(false);
    await rig.passes(1);
    expect(rig.stream.aborted).toBe(true);
    await rig.passes(250);
    expect(rig.streams).toHaveLength(2);
  });

  test("starts no host again, for somebody may have stopped it", async () => {
    const rig = await attached();
    rig.stream.end();
    await rig.passes(250);
    expect(rig.starts).toEqual([true, false]);
  });

  test("starts a host again when the last one died", async () => {
    const rig = await attached();
    const host = { startTime: "0", bootId: "b", version: "1", socket: "s", epoch: 1, pid: 2 ** 22 };
    writeFileSync(rig.paths.hostFile, JSON.stringify(host));
    expect(existsSync(rig.paths.hostFile)).toBe(true);
    rig.stream.end();
    await rig.passes(250);
    expect(rig.starts).toEqual([true, true]);
  });
});

describe("a host that cannot be reached", () => {
  test("is told once it is certain, and tried again ever more slowly", async () => {
    const rig = new Rig(new Error("no host is running"));
    await rig.passes(0);
    expect(rig.states).toEqual([{ kind: "connecting" }]);
    await rig.passes(250);
    expect(rig.states.at(-1)).toEqual({ kind: "down", reason: "no host is running" });
    await rig.passes(499);
    expect(rig.starts).toHaveLength(2);
    await rig.passes(1);
    expect(rig.starts).toHaveLength(3);
    for (let attempt = 0; attempt < 10; attempt += 1) await rig.passes(10_000);
    expect(rig.starts.length).toBeGreaterThan(10);
  });

  test("is tried at once when somebody knows that it answers", async () => {
    const rig = new Rig(new Error("no host is running"));
    for (let attempt = 0; attempt < 6; attempt += 1) await rig.passes(10_000);
    rig.unreachable = undefined;
    rig.loop.retryNow();
    await rig.passes(0);
    expect(rig.streams).toHaveLength(1);
  });

  test("because of its version says so, in the host's words", async () => {
    const rig = await attached();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      rig.stream.fail(rejection(Reason.VERSION_SKEW, "run: pi-workflows host restart"));
      await rig.passes(500);
    }
    expect(rig.states).toContainEqual({ kind: "down", reason: "run: pi-workflows host restart" });
  });
});

describe("a session that another Pi took over", () => {
  const fenced = async (): Promise<Rig> => {
    const rig = await attached();
    rig.stream.fail(rejection(Reason.SESSION_FENCED));
    await rig.passes(0);
    return rig;
  };

  test("is never attached again by itself", async () => {
    const rig = await fenced();
    expect(rig.states.at(-1)).toEqual({ kind: "fenced" });
    await rig.passes(3_600_000);
    expect(rig.streams).toHaveLength(1);
  });

  test("is taken back by a person's wish, once", async () => {
    const rig = await fenced();
    rig.loop.takeOver();
    await rig.passes(0);
    expect(rig.stream.request).toMatchObject({ takeOver: true });
    rig.stream.picture();
    await rig.passes(0);
    rig.stream.end();
    await rig.passes(250);
    expect(rig.streams).toHaveLength(3);
    expect(rig.stream.request).toMatchObject({ takeOver: false });
  });
});

test("a standby takes the session over on a new stream", async () => {
  const rig = await attached();
  const before = rig.stream;
  rig.loop.takeOver();
  await rig.passes(0);
  expect(before.aborted).toBe(true);
  expect(rig.stream.request).toMatchObject({ takeOver: true });
});

test("a wish to take over that meets no host is kept, and does not spin", async () => {
  const rig = await attached();
  rig.unreachable = new Error("no host is running");
  rig.loop.takeOver();
  await rig.passes(0);
  expect(rig.starts.length).toBeLessThan(4);
  rig.unreachable = undefined;
  await rig.passes(20_000);
  expect(rig.stream.request).toMatchObject({ takeOver: true });
});

test("closing ends the stream, the pause and the loop", async () => {
  const rig = await attached();
  rig.loop.close();
  await rig.ended;
  expect(rig.stream.aborted).toBe(true);
  expect(rig.clock.pending).toBe(0);
  const waiting = new Rig(new Error("no host is running"));
  await waiting.passes(0);
  waiting.loop.close();
  await waiting.ended;
  expect(waiting.clock.pending).toBe(0);
});
