import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toJsonString } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { GetStatusResponseSchema } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { command, rejected, startHandlers } from "../support/handler-rig.ts";

describe("GetStatus", () => {
  test("counts, and tells no payload, project or token", async () => {
    const { host, rig } = startHandlers();
    const worker = await rig.running("ask", { inputJson: '"a-payload"' });
    await worker.ask({ summary: "a-question" });
    await rig.running("deploy");
    const status = await host.getStatus({});
    expect(status).toMatchObject({ version: "1.2.3", epoch: 1n, pendingInteractions: 1 });
    expect(status.runs).toMatchObject([
      { status: RunStatus.RUNNING, count: 1n },
      { status: RunStatus.WAITING, count: 1n },
    ]);
    const text = toJsonString(GetStatusResponseSchema, status);
    for (const secret of ["a-payload", "a-question", "/project", worker.proof.tokenHash]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("the care of the state", () => {
  test("finds nothing in sound rows and repairs nothing", async () => {
    const { host, rig } = startHandlers();
    await rig.running("hub");
    expect((await host.diagnose({})).findings).toEqual([]);
    expect(await host.repair({ command: command() })).toMatchObject({
      repaired: [],
      remaining: [],
    });
  });

  test("prunes once for one key", async () => {
    const { host, runs, rig } = startHandlers();
    const runId = await rig.admit();
    await runs.cancelRun({ command: command(), runId });
    rig.at.clock.advance(1);
    const olderThan = { seconds: 0n, nanos: 0 };
    const dry = await host.prune({ command: command(), olderThan, dryRun: true });
    expect(dry.runs).toBe(1n);
    const first = await host.prune({ command: command("k"), olderThan });
    expect(first.runs).toBe(1n);
    expect(await host.prune({ command: command("k"), olderThan })).toEqual(first);
    const negative = { seconds: -1n, nanos: 0 };
    const call = host.prune({ command: command(), olderThan: negative });
    expect((await rejected(call)).reason).toBe(Reason.REQUEST_INVALID);
  });

  test("prunes the output of workers with their runs, and nobody else's", async () => {
    const { host, runs, rig, workersDir } = startHandlers();
    const olderThan = { seconds: 0n, nanos: 0 };
    const [gone, kept] = [await rig.running("hub"), await rig.running("hub")].map(
      ({ proof, runId }) => ({ runId, proof, file: join(workersDir, `${proof.workerId}.out`) }),
    );
    for (const file of [gone?.file, kept?.file, join(workersDir, "notes.txt")])
      writeFileSync(file ?? "", "said");
    await runs.cancelRun({ command: command(), runId: gone?.runId ?? "" });
    await rig.exit(gone?.proof.workerId ?? "");
    rig.at.clock.advance(1);
    await host.prune({ command: command(), olderThan, dryRun: true });
    expect(readdirSync(workersDir)).toHaveLength(3);
    expect((await host.prune({ command: command(), olderThan })).runs).toBe(1n);
    expect(readdirSync(workersDir).toSorted()).toEqual(
      [`${kept?.proof.workerId}.out`, "notes.txt"].toSorted(),
    );
  });

  test("backs up to a new file only", async () => {
    const { host, workersDir } = startHandlers();
    const path = join(workersDir, "copy.db");
    expect((await host.backup({ path })).digest).toMatch(/^[0-9a-f]{64}$/);
    expect((await rejected(host.backup({ path }))).reason).toBe(Reason.REQUEST_INVALID);
    expect((await rejected(host.backup({ path: "copy.db" }))).reason).toBe(Reason.REQUEST_INVALID);
  });

  test("stops the host after the call is answered", async () => {
    const { host, shutdowns } = startHandlers();
    expect((await host.shutdown({ now: true })).pid).toBe(process.pid);
    expect(shutdowns).toEqual([true]);
  });
});
