import { once } from "node:events";
import { rmSync, statSync } from "node:fs";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHostLink } from "../../src/client/transport.ts";
import { rejectionOf } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import {
  RunService,
  WatchRunsResponseSchema,
} from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { HostError } from "../../src/host/errors.ts";
import { rejectionError, rejections } from "../../src/host/handlers/rejections.ts";
import { CLIENT_REQUEST_BYTES_MAX, FIRST_CALL_DEADLINE_MS } from "../../src/host/limits.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { closed, sendAndWait, serve } from "../support/socket-rig.ts";

async function refusal(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error("the call was answered");
    },
    (error: unknown) => ConnectError.from(error),
  );
}

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HOSTILE: readonly (readonly [string, string | Buffer])[] = [
  ["an HTTP/1 request", "GET / HTTP/1.0\r\n\r\n"],
  ["a TLS greeting", Buffer.from("16030100c6010000c20303", "hex")],
  ["a megabyte of zeros", Buffer.alloc(1_048_576)],
  ["the right beginning and then nonsense", `${PREFACE}${"nonsense".repeat(1000)}`],
  ["a frame that claims 16 MiB", Buffer.concat([Buffer.from(PREFACE), Buffer.alloc(9, 0xff)])],
];

describe("the socket", () => {
  test("is for its owner alone", async () => {
    const { path } = await serve();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each(HOSTILE)("closes a connection that sends %s, and only that one", async (_, bytes) => {
    const { path, host } = await serve();
    await host.getStatus({});
    await sendAndWait(path, bytes);
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("closes a connection on which nobody asks anything", async () => {
    const clock = new FakeClock();
    const { path, host, server } = await serve({ clock });
    await host.getStatus({});
    const idle = connect(path);
    idle.resume();
    idle.write(PREFACE);
    idle.write(Buffer.from("000000040000000000", "hex")); // an empty SETTINGS frame
    await once(idle, "connect");
    await expect.poll(() => server.connections()).toBe(2);
    clock.advance(FIRST_CALL_DEADLINE_MS);
    await closed(idle);
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("forgets a connection whose client vanished in the middle of a stream", async () => {
    const { server, path, watchEnded } = await serve();
    const link = openHostLink({ socketPath: path });
    const stream = createClient(RunService, link.transport).watchRuns({});
    await stream[Symbol.asyncIterator]().next();
    link.close();
    await watchEnded;
    await expect.poll(() => server.connections()).toBe(0);
  });

  test("ends a stream whose client stopped to read and then vanished", async () => {
    let produced = 0;
    const finished = Promise.withResolvers<void>();
    const { path } = await serve({
      routes: (router) => {
        router.service(RunService, {
          async *watchRuns() {
            try {
              for (;;) {
                produced += 1;
                yield create(WatchRunsResponseSchema, { runs: [{ detail: "x".repeat(64_000) }] });
              }
            } finally {
              finished.resolve();
            }
          },
        });
      },
    });
    const link = openHostLink({ socketPath: path });
    const stream = createClient(RunService, link.transport).watchRuns({});
    await stream[Symbol.asyncIterator]().next();
    // Nobody reads on, so the handler comes to a halt after what the connection holds.
    let before = -1;
    await expect
      .poll(() => {
        const isStill = produced === before;
        before = produced;
        return isStill;
      })
      .toBe(true);
    expect(produced).toBeLessThan(200);
    link.close();
    await finished.promise;
  });

  test("is bound again when somebody removed its file", async () => {
    const { server, path, host } = await serve();
    rmSync(path);
    await server.listen();
    const link = openHostLink({ socketPath: path });
    onTestFinished(() => link.close());
    expect((await createClient(HostService, link.transport).getStatus({})).state).toBe("serving");
    // The connection from before lives on.
    expect((await host.getStatus({})).state).toBe("serving");
  });
});

describe("a call", () => {
  test("over the size of a request is refused, and the next one is answered", async () => {
    const { runs, host } = await serve();
    const workflow = "x".repeat(CLIENT_REQUEST_BYTES_MAX);
    expect((await refusal(runs.startRun({ workflow }))).code).toBe(Code.ResourceExhausted);
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("that the gate refuses never has its body read", async () => {
    const { host } = await serve({
      gate: () => {
        throw rejectionError(new HostError("VERSION_SKEW", "run: pi-workflows host restart"));
      },
    });
    const error = await refusal(host.getStatus({}));
    expect(rejectionOf(error)?.reason).toBe(Reason.VERSION_SKEW);
    expect(error.rawMessage).toBe("run: pi-workflows host restart");
  });

  test("of an unknown service is told so at once", async () => {
    const { path } = await serve();
    const link = openHostLink({ socketPath: path });
    onTestFinished(() => link.close());
    const client = createClient(InteractionService, link.transport);
    expect((await refusal(client.getInteraction({}))).code).toBe(Code.Unimplemented);
  });

  test("of an authority that is none is refused, and the next one is answered", async () => {
    const { path, host } = await serve();
    const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": `/${HostService.typeName}/GetStatus`,
      ":authority": "localhost:99999",
      "content-type": "application/json",
    });
    stream.end("{}");
    const [headers] = (await once(stream, "response")) as [{ readonly ":status"?: number }];
    expect(headers[":status"]).toBe(400);
    expect((await host.getStatus({})).state).toBe("serving");
  });

  test("that meets a fault of ours is told an id and nothing of it", async () => {
    const { host } = await serve();
    const error = await refusal(host.backup({ path: "/x" }));
    expect(error.code).toBe(Code.Internal);
    expect(error.rawMessage).toBe("internal error err_1; the host's log has more under it");
  });

  test("whose caller goes away before it was read is no fault of ours", async () => {
    const faults: unknown[] = [];
    const noteFault = (error: unknown): string => {
      faults.push(error);
      return "err_1";
    };
    const { path, host } = await serve({ interceptors: [rejections(noteFault)] });
    const client = connectHttp2("http://localhost", { createConnection: () => connect(path) });
    onTestFinished(() => client.destroy());
    const call = client.request({
      ":method": "POST",
      ":path": "/piworkflows.host.v1.RunService/WatchRuns",
      "content-type": "application/connect+proto",
    });
    call.on("error", () => undefined).resume();
    // Half of the message's frame.
    call.write(Buffer.from("0000", "hex"));
    const ping = (): Promise<void> =>
      new Promise((resolve) => {
        client.ping(() => resolve());
      });
    await ping();
    call.close(constants.NGHTTP2_CANCEL);
    await ping();
    expect((await host.getStatus({})).state).toBe("serving");
    expect(faults).toEqual([]);
  });

  test("waits its turn when its client has too many open", async () => {
    const { host } = await serve();
    // A client learns the limit with its first answer.
    await host.getStatus({});
    const calls = Array.from({ length: 200 }, () => host.getStatus({}));
    expect(await Promise.all(calls)).toHaveLength(200);
  });
});

describe("a stop", () => {
  test("ends open streams as HOST_STOPPING and leaves no connection", async () => {
    const { server, runs, host } = await serve();
    await host.getStatus({});
    const stream = runs.watchRuns({})[Symbol.asyncIterator]();
    await stream.next();
    const begun = performance.now();
    const next = refusal(stream.next());
    await server.stop(5_000);
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect(rejectionOf(await next)?.reason).toBe(Reason.HOST_STOPPING);
    expect(server.connections()).toBe(0);
  });

  test("does not wait for a client that keeps its connection", async () => {
    const { server, path } = await serve();
    const idle = connect(path);
    await once(idle, "connect");
    await expect.poll(() => server.connections()).toBe(1);
    await server.stop(50);
    await closed(idle);
    expect(server.connections()).toBe(0);
  });
});
