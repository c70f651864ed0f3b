import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHostLink } from "../../src/client/transport.ts";
import { rejectionOf } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";

/** The identity of its files is compared every five seconds. */
const NOTICED_MS = 15_000;

function events(host: RealHost): readonly unknown[] {
  return host.log().map(({ event }) => event);
}

describe("a host that is told to stop", () => {
  test.each([
    ["by a client", "", async (host: RealHost) => void (await host.host.shutdown({}))],
    ["by SIGTERM", "", async (host: RealHost) => void process.kill(host.pid, "SIGTERM")],
    [
      "by Ctrl-C",
      "stopping; Ctrl-C again does not wait\n",
      async (host: RealHost) => void process.kill(host.pid, "SIGINT"),
    ],
  ])("%s ends its streams, its workers and itself", async (_, stderr, tell) => {
    const host = await startRealHost();
    const stream = host.runs.watchRuns({})[Symbol.asyncIterator]();
    await stream.next();
    const end = stream.next().catch((error: unknown) => rejectionOf(error)?.reason);
    await tell(host);
    expect(await host.exited).toEqual({ code: 0, signal: null, stderr });
    expect(await end).toBe(Reason.HOST_STOPPING);
    expect(events(host).at(-1)).toBe("host.stopped");
    expect(existsSync(host.paths.hostFile)).toBe(false);
    expect(existsSync(host.paths.socket)).toBe(false);
  });

  test("does not mind a terminal that closes", async () => {
    const host = await startRealHost();
    process.kill(host.pid, "SIGHUP");
    expect((await host.host.getStatus({})).state).toBe("serving");
  });
});

describe("a host with nothing to do", () => {
  test("ends by itself, but not while somebody watches", async () => {
    const host = await startRealHost({ env: { PI_WORKFLOWS_IDLE_MS: "500" } });
    const stream = host.runs.watchRuns({})[Symbol.asyncIterator]();
    await stream.next();
    // Longer than it would have lived: two of its looks at whether it is needed.
    const before = Number((await host.host.getStatus({})).uptime?.seconds ?? 0n);
    await expect
      .poll(async () => Number((await host.host.getStatus({})).uptime?.seconds ?? 0n) - before, {
        timeout: 10_000,
      })
      .toBeGreaterThanOrEqual(2);
    await stream.return?.();
    expect(await host.exited).toMatchObject({ code: 0 });
    expect(host.log().find(({ event }) => event === "host.stopping")).toMatchObject({
      reason: "nothing to do",
    });
  });
});

describe("a host whose files are taken away", () => {
  test.each([
    ["the lock is removed", (host: RealHost) => rmSync(host.paths.lock)],
    [
      "the database is replaced",
      (host: RealHost) => {
        renameSync(host.paths.database, `${host.paths.database}.old`);
        writeFileSync(host.paths.database, "");
      },
    ],
  ])(
    "ends without another write when %s",
    async (_, take) => {
      const host = await startRealHost();
      take(host);
      const exit = await host.exited;
      expect(exit.code).toBe(74);
      expect(host.log().at(-1)).toMatchObject({ event: "host.ended" });
    },
    NOTICED_MS + 20_000,
  );

  test(
    "binds its socket again when only that is gone",
    async () => {
      const host = await startRealHost();
      rmSync(host.paths.socket);
      await expect.poll(() => existsSync(host.paths.socket), { timeout: NOTICED_MS }).toBe(true);
      const link = openHostLink({ socketPath: host.paths.socket });
      onTestFinished(() => link.close());
      const status = await createClient(HostService, link.transport).getStatus({});
      expect(status.pid).toBe(host.pid);
    },
    NOTICED_MS + 20_000,
  );
});

describe("a client of another version", () => {
  test("is told how to go on, and can see and stop the host", async () => {
    const host = await startRealHost();
    const transport = createConnectTransport({
      baseUrl: "http://localhost",
      httpVersion: "2",
      nodeOptions: { createConnection: () => connect(host.paths.socket) },
      interceptors: [
        (next) => (request) => {
          request.header.set("x-pi-workflows-version", "0.0.1");
          return next(request);
        },
      ],
    });
    const skewed = createClient(HostService, transport);
    const refused = skewed.diagnose({}).catch((error: unknown) => rejectionOf(error));
    expect(await refused).toMatchObject({ reason: Reason.VERSION_SKEW });
    expect((await skewed.getStatus({})).pid).toBe(host.pid);
    await skewed.shutdown({});
    expect((await host.exited).code).toBe(0);
  });
});
