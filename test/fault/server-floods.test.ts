import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { CLIENT_REQUEST_BYTES_MAX, CONNECTIONS_MAX } from "../../src/host/limits.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { closed, serve } from "../support/socket-rig.ts";

const STATUS = "/piworkflows.host.v1.HostService/GetStatus";
const WATCH = "/piworkflows.host.v1.RunService/WatchRuns";

function session(path: string): ClientHttp2Session {
  const client = connectHttp2("http://localhost", { createConnection: () => connect(path) });
  client.on("error", () => undefined);
  onTestFinished(() => client.destroy());
  return client;
}

/** Connected, dropped, or refused by a system that holds no more that wait. */
function settled(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("connect", () => resolve());
    socket.once("error", () => resolve());
    socket.once("close", () => resolve());
  });
}

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

/** The answer to one request, however it ends. */
async function answerTo(stream: ClientHttp2Stream): Promise<Answer> {
  let status: number | undefined;
  let body = "";
  stream.on("response", (headers) => {
    status = headers[":status"];
  });
  stream.on("data", (chunk: Buffer) => {
    body += chunk.toString();
  });
  stream.on("error", () => undefined);
  if (!stream.closed) await once(stream, "close");
  return { status, body };
}

function post(client: ClientHttp2Session, path: string, headers: object): ClientHttp2Stream {
  const type = "application/proto";
  return client.request({ ":method": "POST", ":path": path, "content-type": type, ...headers });
}

describe("a host that is served nonsense", () => {
  test.each([
    [
      "ten thousand headers",
      Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`x-${n}`, "1"])),
    ],
    ["a header of a megabyte", { "x-large": "x".repeat(1_048_576) }],
  ])("refuses %s on that stream and serves the next client", async (_, headers) => {
    const { path, host } = await serve();
    const client = session(path);
    const outcome = await new Promise<Answer | Error>((resolve) => {
      client.once("error", resolve);
      try {
        const stream = post(client, STATUS, headers);
        stream.end();
        answerTo(stream).then(resolve, resolve);
      } catch (error) {
        resolve(error as Error);
      }
    });
    expect("status" in outcome ? outcome.status : undefined).not.toBe(200);
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("does not unpack what it did not ask to be packed", async () => {
    const { path, host } = await serve();
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576));
    const stream = post(session(path), STATUS, { "content-encoding": "gzip" });
    stream.end(bomb);
    const { status, body } = await answerTo(stream);
    expect(status).not.toBe(200);
    expect(body).toContain("unimplemented");
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("believes no length before it has the bytes", async () => {
    const { path, host } = await serve();
    const before = process.memoryUsage.rss();
    const stream = post(session(path), WATCH, { "content-type": "application/connect+proto" });
    stream.end(Buffer.from("00ffffffff", "hex"));
    const { body } = await answerTo(stream);
    expect(body).toContain("resource_exhausted");
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1_048_576);
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("stops reading a body that does not end", async () => {
    const { path, host } = await serve();
    const stream = post(session(path), STATUS, {});
    const answer = answerTo(stream);
    const chunk = Buffer.alloc(1_048_576);
    let sent = 0;
    while (!stream.destroyed && sent < 4 * CLIENT_REQUEST_BYTES_MAX) {
      sent += chunk.length;
      if (!stream.write(chunk)) await Promise.race([once(stream, "drain"), answer]);
    }
    stream.end();
    expect((await answer).status).toBe(429);
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("answers through a flood of calls that are taken back at once", async () => {
    const { path, host } = await serve();
    await host.getStatus({});
    const client = session(path);
    const streams = Array.from({ length: 5_000 }, () => {
      const stream = post(client, STATUS, {});
      stream.on("error", () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
      return stream;
    });
    expect((await host.getStatus({})).state).toBe("serving");
    await Promise.all(
      streams.map(async (stream) => stream.closed || (await once(stream, "close"))),
    );
    expect((await host.getStatus({})).state).toBe("serving");
  });
});

describe("a host with more connections than it takes", () => {
  test("drops the surplus, and serves those it has", async () => {
    // With a clock that stands still, nobody is disconnected for being idle.
    const { path, host, server } = await serve({ clock: new FakeClock() });
    await host.getStatus({});
    const idle: Socket[] = [];
    onTestFinished(async () => {
      for (const socket of idle) socket.destroy();
      await Promise.all(idle.map(closed));
    });
    while (server.connections() < CONNECTIONS_MAX) {
      const portion = Array.from({ length: 50 }, () => connect(path));
      idle.push(...portion);
      await Promise.all(portion.map(settled));
      // The host has taken in who waited before it answers.
      expect((await host.getStatus({})).state).toBe("serving");
    }
    const surplus = connect(path);
    idle.push(surplus);
    await closed(surplus);
    expect(server.connections()).toBe(CONNECTIONS_MAX);
    expect((await host.getStatus({})).state).toBe("serving");
  });
});
