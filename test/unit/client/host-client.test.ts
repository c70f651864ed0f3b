import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import type { ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectHost } from "../../../src/client/host-client.ts";
import type { ConnectOptions, HostClient } from "../../../src/client/host-client.ts";
import { livingHost, readHostFile } from "../../../src/client/host-file.ts";
import { isHostGone, isRejectedFor, rejectionOf } from "../../../src/client/rejection.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { packageVersion } from "../../../src/platform/package-info.ts";
import { stateOf } from "../../../src/platform/process-identity.ts";
import type { StatePaths } from "../../../src/platform/state-folder.ts";
import { refusal, startFakeHost, stateFolder } from "../../support/fake-host.ts";
import type { FakeHost, FakeServices } from "../../support/fake-host.ts";

let paths: StatePaths;
let removeFolder: () => void;
const open: { close: () => unknown }[] = [];

beforeEach(() => {
  ({ paths, remove: removeFolder } = stateFolder());
});

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
  removeFolder();
});

async function fakeHost(services: FakeServices): Promise<FakeHost> {
  const host = await startFakeHost(paths, services);
  open.push({ close: () => host.stop() });
  return host;
}

async function client(options: Partial<ConnectOptions> = {}): Promise<HostClient> {
  const connected = await connectHost({ paths, startHost: false, hostEntry: "", ...options });
  open.push(connected);
  return connected;
}

/** A program that stands in for the host's. */
function program(source: string): string {
  const path = join(paths.folder, "program.cjs");
  writeFileSync(path, source);
  return path;
}

const stopping = (): ConnectError =>
  refusal(Code.Unavailable, { reason: Reason.HOST_STOPPING, message: "the host is stopping" });

describe("a client", () => {
  test("tells its version with every call", async () => {
    const host = await fakeHost({ host: { getStatus: () => ({ pid: 7 }) } });
    const { pid } = await (await client()).host.getStatus({});
    expect(pid).toBe(7);
    expect(host.versions).toEqual([packageVersion()]);
  });

  test("sends the same request again when the host was stopping", async () => {
    const seen: string[] = [];
    await fakeHost({
      runs: {
        cancelRun: (request) => {
          seen.push(request.command?.requestId ?? "");
          if (seen.length < 3) throw stopping();
          return { receipt: { runId: "run_1" } };
        },
      },
    });
    const host = await client();
    const request = { runId: "run_1", command: { requestId: "req_1" } };
    const response = await host.call(({ runs }) => runs.cancelRun(request));
    expect(response.receipt?.runId).toBe("run_1");
    expect(seen).toEqual(["req_1", "req_1", "req_1"]);
  });

  test("gives up with the host's own words when its budget is used up", async () => {
    await fakeHost({
      host: {
        getStatus: () => {
          throw stopping();
        },
      },
    });
    const host = await client({ budgetMs: 200 });
    const call = host.call((clients) => clients.host.getStatus({}));
    await expect(call).rejects.toSatisfy((error) => isRejectedFor(error, Reason.HOST_STOPPING));
  });

  test("does not repeat what was refused", async () => {
    let calls = 0;
    await fakeHost({
      runs: {
        getRun: () => {
          calls += 1;
          throw refusal(Code.NotFound, { reason: Reason.RUN_NOT_FOUND, message: "no run" });
        },
      },
    });
    const host = await client();
    const error: unknown = await host
      .call(({ runs }) => runs.getRun({ runId: "run_1" }))
      .catch((caught: unknown) => caught);
    expect(rejectionOf(error)?.reason).toBe(Reason.RUN_NOT_FOUND);
    expect(isHostGone(error)).toBe(false);
    expect(calls).toBe(1);
  });

  test.each(["killed", "stopped"] as const)(
    "finds the next host when the first one died in mid-call (%s)",
    async (how) => {
      const asked = Promise.withResolvers<void>();
      const first = await fakeHost({
        host: {
          getStatus: () => {
            asked.resolve();
            return new Promise<never>(() => undefined);
          },
        },
      });
      const host = await client({ startHost: true, hostEntry: program("process.exitCode = 0;") });
      const call = host.call((clients) => clients.host.getStatus({}));
      await asked.promise;
      await first.stop(how);
      await fakeHost({ host: { getStatus: () => ({ pid: 2 }) } });
      expect((await call).pid).toBe(2);
    },
  );
});

describe("without a host", () => {
  test("a client that must not start one says that none is running", async () => {
    await expect(client()).rejects.toMatchObject({ kind: "absent", message: "no host is running" });
  });

  test("one that fails hands its reason back, with the path of the log", async () => {
    const hostEntry = program(
      'process.stderr.write("settings.json: capacity: must be 1 to 64\\n"); process.exitCode = 1;',
    );
    await expect(client({ startHost: true, hostEntry })).rejects.toMatchObject({
      kind: "start_failed",
      message: "the host could not be started: settings.json: capacity: must be 1 to 64",
      logPath: paths.log,
    });
  });

  test("one that dies without a word is told with its exit code", async () => {
    const hostEntry = program("process.exitCode = 9;");
    await expect(client({ startHost: true, hostEntry })).rejects.toThrow(
      "the host could not be started: it said nothing (exit code 9)",
    );
  });

  test("starting goes on while another holds the lock, until that one listens", async () => {
    let starts = 0;
    const hostEntry = program("process.exitCode = 0;");
    const connecting = client({ startHost: true, hostEntry, onStart: () => (starts += 1) });
    await expect.poll(() => starts).toBe(1);
    await fakeHost({ host: { getStatus: () => ({ pid: 3 }) } });
    const { pid } = await (await connecting).host.getStatus({});
    expect(pid).toBe(3);
    expect(starts).toBe(1);
  });

  test("one that never listens is ended when its time is over, and named", async () => {
    const pidFile = join(paths.folder, "pid");
    const hostEntry = program(
      `require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); for (;;);`,
    );
    const limits = { budgetMs: 100, startMs: 3_000 };
    const error: unknown = await client({ startHost: true, hostEntry, ...limits }).catch(
      (caught: unknown) => caught,
    );
    const pid = Number(readFileSync(pidFile, "utf8"));
    expect(error).toMatchObject({
      kind: "no_answer",
      message: `the host (pid ${pid}) did not come to listen and was ended (ENOENT)`,
    });
    await expect.poll(() => stateOf(pid) ?? "gone").toBe("gone");
  });

  test("one that is slow to listen is waited for beyond the budget", async () => {
    const pidFile = join(paths.folder, "pid");
    const hostEntry = program(
      `require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
       setInterval(() => undefined, 1_000);`,
    );
    let lateBy = 0;
    let looksWhenLate = 0;
    const monotonic = (): number => {
      if (lateBy > 0) looksWhenLate += 1;
      return systemClock.monotonic() + lateBy;
    };
    const connecting = client({
      startHost: true,
      hostEntry,
      clock: { ...systemClock, monotonic },
      budgetMs: 15_000,
    });
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8")).toMatch(/\d/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    open.push({ close: () => process.kill(pid, "SIGKILL") });
    lateBy = 30_000;
    await expect.poll(() => looksWhenLate).toBeGreaterThan(3);
    await fakeHost({ host: { getStatus: () => ({ pid: 4 }) } });
    expect((await (await connecting).host.getStatus({})).pid).toBe(4);
  });

  test("a file in the socket's place is told as such", async () => {
    writeFileSync(paths.socket, "");
    await expect(client()).rejects.toMatchObject({ kind: "absent" });
  });

  test("a host's file with other content is no host", () => {
    writeFileSync(paths.hostFile, '{"pid":1}');
    expect(readHostFile(paths)).toBeUndefined();
    writeFileSync(paths.hostFile, "[]x");
    expect(livingHost(paths)).toBeUndefined();
  });
});
