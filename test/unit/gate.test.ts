import { createHandlerContext } from "@connectrpc/connect";
import type { HandlerContext } from "@connectrpc/connect";
import type { DescMethod } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { rejectionOf } from "../../src/client/rejection.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { createGate } from "../../src/host/gate.ts";

interface Situation {
  readonly method: DescMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly stopping?: boolean;
}

/** The reason of the refusal; nothing when the call may pass. */
function refusalOf({ method, headers = {}, stopping = false }: Situation): Reason | undefined {
  const gate = createGate({
    version: "1.2.3",
    isStopping: () => stopping,
  });
  try {
    gate(contextOf(method, headers));
    return undefined;
  } catch (error) {
    const rejection = rejectionOf(error);
    if (rejection === undefined) throw error;
    return rejection.reason;
  }
}

function contextOf(method: DescMethod, headers: Readonly<Record<string, string>>): HandlerContext {
  return createHandlerContext({
    service: method.parent,
    method,
    protocolName: "connect",
    requestMethod: "POST",
    url: "http://localhost",
    requestHeader: headers,
  });
}

const { startRun, getRun, watchRun } = RunService.method;
const { getStatus, shutdown, diagnose } = HostService.method;
const VERSION = "x-pi-workflows-version";

describe("the gate", () => {
  test.each([startRun, getRun, watchRun, diagnose])(
    "lets a client of its own version pass: $name",
    (method) => {
      expect(refusalOf({ method, headers: { [VERSION]: "1.2.3" } })).toBeUndefined();
    },
  );

  test("lets a tool that names no version pass", () => {
    expect(refusalOf({ method: getRun })).toBeUndefined();
  });

  test.each([startRun, getRun, watchRun, diagnose])("refuses another version: $name", (method) => {
    expect(refusalOf({ method, headers: { [VERSION]: "1.2.4" } })).toBe(Reason.VERSION_SKEW);
  });

  test.each([startRun, getRun, watchRun])(
    "refuses everything new while the host stops: $name",
    (method) => {
      expect(refusalOf({ method, stopping: true })).toBe(Reason.HOST_STOPPING);
    },
  );

  test.each([getStatus, shutdown])(
    "always lets pass what mends a wrong version: $name",
    (method) => {
      expect(
        refusalOf({ method, headers: { [VERSION]: "0.0.1" }, stopping: true }),
      ).toBeUndefined();
    },
  );

  test("tells any tool what is served", () => {
    const method = ServerReflection.method.serverReflectionInfo;
    expect(refusalOf({ method, stopping: true })).toBeUndefined();
  });
});
