/**
 * One stream per worker for its whole life, on a real socket. Whatever is wrong
 * with a stream ends its own worker and nothing else.
 */
import { connect as connectHttp2 } from "node:http2";
import { connect as connectSocket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  WorkRequestSchema,
  WorkerService,
} from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkRequest } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { WORK_PATH, WORKER_HEADER, workerStreams } from "../../src/host/handlers/worker-service.ts";
import type { WorkerDoor } from "../../src/host/handlers/worker-service.ts";
import { response } from "../../src/host/handlers/worker-convert.ts";
import { createSocketServer } from "../../src/host/server.ts";
import type { WorkerChannel } from "../../src/host/supervisor/supervised-worker.ts";
import { WORKER_HEADER as WORKERS_HEADER } from "../../src/worker/host-link.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { FakeWorker } from "../support/fake-worker.ts";
import { memoryLog } from "../support/memory-log.ts";

/** A supervisor that knows its workers by their ids and notes what it is told. */
class Door implements WorkerDoor {
  readonly workers = new Map<string, FakeWorker>();
  readonly channels = new Map<FakeWorker, WorkerChannel>();
  readonly heard: string[] = [];
  readonly gone: FakeWorker[] = [];
  /** What a frame does beside being noted. */
  onFrame: (worker: FakeWorker, frame: WorkRequest) => void = () => undefined;

  add(secret: string): FakeWorker {
    const worker = new FakeWorker(new FakeClock());
    this.workers.set(secret, worker);
    return worker;
  }

  authenticate(secret: string | undefined): FakeWorker | undefined {
    return this.workers.get(secret ?? "");
  }

  connect(worker: FakeWorker, channel: WorkerChannel): void {
    this.channels.set(worker, channel);
  }

  receive(worker: FakeWorker, frame: WorkRequest): void {
    this.heard.push(`${this.nameOf(worker)} ${frame.number}`);
    this.onFrame(worker, frame);
  }

  disconnected(worker: FakeWorker): void {
    this.gone.push(worker);
  }

  nameOf(worker: FakeWorker): string {
    return [...this.workers].find(([, one]) => one === worker)?.[0] ?? "nobody";
  }
}

async function serve(door: Door) {
  const folder = mkdtempSync(join(tmpdir(), "ws-"));
  const socketPath = join(folder, "s");
  const faults: unknown[] = [];
  const noteFault = (error: unknown): string => {
    faults.push(error);
    return "err_1";
  };
  const server = createSocketServer({
    socketPath,
    clock: systemClock,
    log: memoryLog().log,
    interceptors: [],
    gate: () => undefined,
    routes: () => undefined,
    streams: new Map([[WORK_PATH, workerStreams(door as never, noteFault)]]),
  });
  await server.listen();
  onTestFinished(async () => {
    await server.stop(0);
    rmSync(folder, { recursive: true, force: true });
  });
  return { server, socketPath, faults };
}

/** A worker's end of a stream: the test pushes frames and reads answers. */
function open(socketPath: string, secret: string | undefined) {
  const sessions = new Http2SessionManager(
    "http://localhost",
    {},
    {
      createConnection: () => connectSocket(socketPath),
    },
  );
  onTestFinished(() => sessions.abort());
  const transport = createGrpcTransport({ baseUrl: "http://localhost", sessionManager: sessions });
  const frames: WorkRequest[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  async function* requests(): AsyncGenerator<WorkRequest> {
    for (;;) {
      yield* frames.splice(0);
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const headers = secret === undefined ? {} : { [WORKERS_HEADER]: secret };
  const stream = createClient(WorkerService, transport).work(requests(), { headers });
  return {
    answers: stream[Symbol.asyncIterator](),
    says(...numbers: number[]): void {
      for (const number of numbers) {
        frames.push(create(WorkRequestSchema, { number: BigInt(number) }));
      }
      wake?.();
    },
    ends(): void {
      ended = true;
      wake?.();
    },
    drops: () => sessions.abort(),
  };
}

describe("a worker's stream", () => {
  test("uses the header that workers know", () => {
    expect(WORKER_HEADER).toBe(WORKERS_HEADER);
  });

  test.each([undefined, "wrong"])("is refused with the secret %s", async (secret) => {
    const door = new Door();
    door.add("right");
    const { socketPath } = await serve(door);
    const stream = open(socketPath, secret);
    stream.says(1);
    await expect(stream.answers.next()).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(door.channels.size).toBe(0);
    expect(door.heard).toEqual([]);
  });

  test("hands frames over as they come and sends answers as they are given", async () => {
    const door = new Door();
    const worker = door.add("one");
    const { socketPath } = await serve(door);
    const stream = open(socketPath, "one");
    stream.says(1, 2, 3);
    // Nothing is answered yet, and all of it was read.
    await vi.waitFor(() => expect(door.heard).toEqual(["one 1", "one 2", "one 3"]));
    const channel = door.channels.get(worker);
    for (const number of [1n, 3n]) channel?.send(response({ case: "ack", value: {} }, number));
    expect((await stream.answers.next()).value).toMatchObject({ inReplyTo: 1n });
    expect((await stream.answers.next()).value).toMatchObject({ inReplyTo: 3n });
  });

  test("that the worker ends, or loses, means that the worker is gone", async () => {
    const door = new Door();
    const [one, two] = [door.add("one"), door.add("two")];
    const { socketPath } = await serve(door);
    const first = open(socketPath, "one");
    const second = open(socketPath, "two");
    first.says(1);
    second.says(1);
    await vi.waitFor(() => expect(door.heard).toHaveLength(2));
    first.ends();
    await vi.waitFor(() => expect(door.gone).toEqual([one]));
    await expect(first.answers.next()).resolves.toMatchObject({ done: true });
    const lost = second.answers.next().catch((error: unknown) => error);
    second.drops();
    expect(await lost).toBeInstanceOf(ConnectError);
    await vi.waitFor(() => expect(door.gone).toEqual([one, two]));
  });

  test("that the host closes ends after what was sent before", async () => {
    const door = new Door();
    const worker = door.add("one");
    const { socketPath } = await serve(door);
    const stream = open(socketPath, "one");
    stream.says(1);
    await vi.waitFor(() => expect(door.channels.has(worker)).toBe(true));
    const channel = door.channels.get(worker);
    channel?.send(response({ case: "ack", value: {} }, 1n));
    channel?.close();
    channel?.send(response({ case: "ack", value: {} }, 2n));
    expect((await stream.answers.next()).value).toMatchObject({ inReplyTo: 1n });
    await expect(stream.answers.next()).resolves.toMatchObject({ done: true });
    expect(door.gone).toEqual([worker]);
  });

  test("that is malformed ends alone", async () => {
    const door = new Door();
    const [broken, sound] = [door.add("broken"), door.add("sound")];
    const { socketPath, faults } = await serve(door);
    const stream = open(socketPath, "sound");
    stream.says(1);
    await vi.waitFor(() => expect(door.heard).toEqual(["sound 1"]));
    const session = connectHttp2("http://localhost", {
      createConnection: () => connectSocket(socketPath),
    });
    onTestFinished(() => session.destroy());
    const call = session.request({
      ":method": "POST",
      ":path": WORK_PATH,
      "content-type": "application/grpc+proto",
      [WORKER_HEADER]: "broken",
    });
    call.on("error", () => undefined);
    // An envelope of five bytes that are no message.
    call.write(Buffer.from([0, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0xff]));
    call.resume();
    await vi.waitFor(() => expect(door.gone).toEqual([broken]));
    door.channels.get(sound)?.send(response({ case: "ack", value: {} }, 1n));
    expect((await stream.answers.next()).value).toMatchObject({ inReplyTo: 1n });
    expect(faults).toEqual([]);
  });

  test("whose worker reads nothing does not grow without end", async () => {
    const door = new Door();
    const worker = door.add("one");
    const { socketPath } = await serve(door);
    const stream = open(socketPath, "one");
    stream.says(1);
    await vi.waitFor(() => expect(door.channels.has(worker)).toBe(true));
    const channel = door.channels.get(worker);
    for (let count = 0; count < 20_001; count += 1) {
      channel?.send(response({ case: "ack", value: {} }, 1n));
    }
    expect(worker.signals).toEqual(["kill"]);
    // What the connection had taken already comes, and then the end.
    while ((await stream.answers.next()).done !== true);
  });

  test("tells when it has taken what was sent", async () => {
    const door = new Door();
    const worker = door.add("one");
    const { socketPath } = await serve(door);
    const stream = open(socketPath, "one");
    stream.says(1);
    await vi.waitFor(() => expect(door.channels.has(worker)).toBe(true));
    const channel = door.channels.get(worker);
    const json = new Uint8Array(1024 * 1024);
    let sent = 0;
    const sending = (async () => {
      for (; sent < 64; sent += 1) {
        channel?.send(response({ case: "state", value: { json } }));
        await channel?.drained?.();
      }
      channel?.close();
    })();
    await stream.answers.next();
    // The reader stands still, and so does the sender, far from its end.
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(sent).toBeLessThan(32);
    let count = 1;
    while ((await stream.answers.next()).done !== true) count += 1;
    await sending;
    expect(count).toBe(64);
  });

  test("in which the host itself fails is a fault, told by its number", async () => {
    const door = new Door();
    const worker = door.add("one");
    door.onFrame = () => {
      throw new Error("a mistake of ours");
    };
    const { socketPath, faults } = await serve(door);
    const stream = open(socketPath, "one");
    stream.says(1);
    const ended = await stream.answers.next().catch((error: unknown) => error);
    expect(ended).toBeInstanceOf(ConnectError);
    expect((ended as ConnectError).message).toContain("err_1");
    expect(faults).toMatchObject([{ message: "a mistake of ours" }]);
    expect(door.gone).toEqual([worker]);
  });

  test("is told of a host that stops, also while nothing is said", async () => {
    const door = new Door();
    const worker = door.add("one");
    const { server, socketPath } = await serve(door);
    const stream = open(socketPath, "one");
    stream.says(1);
    await vi.waitFor(() => expect(door.heard).toHaveLength(1));
    const answer = stream.answers.next();
    await server.stop(1_000);
    expect((await answer).done).toBe(true);
    expect(door.gone).toEqual([worker]);
  });
});
