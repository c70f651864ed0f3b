import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { HostAccess } from "../../../src/extension/host-access.ts";
import { GetStatusResponseSchema } from "../../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { ListRunsResponseSchema } from "../../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { startFakeHost, stateFolder } from "../../support/fake-host.ts";
import type { FakeServices } from "../../support/fake-host.ts";

const STATUS = create(GetStatusResponseSchema, {});
const RUNS = create(ListRunsResponseSchema, {});

interface Rig {
  readonly access: HostAccess;
  readonly reached: () => number;
}

/** A host that answers, unless the test says otherwise. */
async function rig(services: FakeServices = {}): Promise<Rig> {
  const { paths, remove } = stateFolder();
  const host = await startFakeHost(paths, { host: { getStatus: () => STATUS }, ...services });
  let reached = 0;
  const access = new HostAccess({
    paths,
    hostEntry: "/nowhere/host.cjs",
    mayStartHost: true,
    attached: () => ({ attachmentId: "tch_1", capability: "secret" }),
    onReached: async () => {
      reached += 1;
    },
  });
  onTestFinished(async () => {
    access.close();
    await host.stop();
    remove();
  });
  return { access, reached: () => reached };
}

describe("clients for the tool and the command", () => {
  test("come with who is attached, after the session was told that a host answers", async () => {
    const { access, reached } = await rig({ runs: { listRuns: () => RUNS } });
    const clients = await access.host(undefined);
    expect(clients).toMatchObject({ attachmentId: "tch_1", capability: "secret" });
    expect(reached()).toBe(1);
    expect((await clients.runs.listRuns({})).runs).toEqual([]);
    expect((await clients.hostService.getStatus({})).$typeName).toContain("GetStatusResponse");
  });

  test("share one connection as long as it answers", async () => {
    const { access } = await rig();
    const first = await access.host(undefined);
    expect((await access.host(undefined)).runs).toBe(first.runs);
  });

  test("are refused to whoever has given up", async () => {
    const { access } = await rig();
    await expect(access.host(AbortSignal.abort(new Error("given up")))).rejects.toThrow("given up");
  });
});

describe("one call", () => {
  test("is made again when the host was going, with nothing changed", async () => {
    let calls = 0;
    const listRuns = (): typeof RUNS => {
      calls += 1;
      if (calls === 1) throw new ConnectError("stopping", Code.Unavailable);
      return RUNS;
    };
    const { access } = await rig({ runs: { listRuns } });
    const answer = await access.call(async ({ runs }) => await runs.listRuns({}), undefined);
    expect(answer.runs).toEqual([]);
    expect(calls).toBe(2);
  });

  test("that is refused is not made again", async () => {
    let calls = 0;
    const listRuns = (): never => {
      calls += 1;
      throw new ConnectError("no", Code.FailedPrecondition);
    };
    const { access } = await rig({ runs: { listRuns } });
    const call = access.call(async ({ runs }) => await runs.listRuns({}), undefined);
    await expect(call).rejects.toThrow("no");
    expect(calls).toBe(1);
  });

  test("is not begun by whoever has given up", async () => {
    const { access } = await rig();
    const signal = AbortSignal.abort(new Error("given up"));
    const never = async (): Promise<never> => {
      throw new Error("was called");
    };
    await expect(access.call(never, signal)).rejects.toThrow("given up");
  });
});
