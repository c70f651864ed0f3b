import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { FailureSchema } from "../../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { GraphSchema } from "../../../src/gen/piworkflows/common/v1/graph_pb.ts";
import { SourceKind, SourceSchema } from "../../../src/gen/piworkflows/common/v1/source_pb.ts";
import {
  AttemptOutcome,
  AttemptResultSchema,
  EffectOutcomeKind,
} from "../../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import {
  LoadFailedSchema,
  WorkRequestSchema,
} from "../../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { graphMessage, graphRecord } from "../../../src/host/handlers/graph-convert.ts";
import { attemptResult } from "../../../src/host/handlers/result-convert.ts";
import {
  failureRecord,
  jsonText,
  loadFailureRecord,
  optionalMs,
  proofOf,
  sourceMessage,
  sourceWithContent,
} from "../../../src/host/handlers/worker-convert.ts";
import { VALUE_BYTES_MAX } from "../../../src/host/limits.ts";
import type { GraphRecord, SourceRecord } from "../../../src/host/records.ts";

const GRAPH: GraphRecord = {
  name: "all",
  startAt: "a",
  maxSteps: 7,
  nodes: [
    { path: "a", kind: "compute" },
    { path: "b", kind: "shell", statusDetail: "building" },
    {
      path: "c",
      kind: "action",
      effect: { policy: "idempotent", type: "mail" },
      retry: { maxAttempts: 3, backoffMs: 2 ** 40, factor: 1.5, maxBackoffMs: 2 ** 50 },
    },
  ],
  edges: [
    { from: "a", to: "b" },
    {
      from: "b",
      on: "$.way",
      cases: [
        { value: "yes", to: "a" },
        { value: 0, to: "b" },
        { value: false, to: "c" },
      ],
      default: "a",
    },
    { from: "c", on: "$.x", cases: [{ value: "", to: "a" }] },
  ],
};

describe("a graph", () => {
  test("comes back from the wire as it was", () => {
    expect(graphRecord(graphMessage(GRAPH))).toEqual(GRAPH);
  });

  test.each([
    ["a case without a value", { cases: [{ to: "a" }] }],
    ["a case of null", { cases: [{ to: "a", value: { kind: { case: "nullValue", value: 0 } } }] }],
  ] as const)("with %s is malformed", (_, edge) => {
    const graph = create(GraphSchema, {
      edges: [{ from: "a", on: "$.x", cases: edge.cases.map((one) => ({ ...one })) }],
    });
    expect(() => graphRecord(graph)).toThrow("malformed");
  });

  test("with an effect of another policy is malformed", () => {
    const effect = { policy: "sometimes", type: "mail" };
    const graph = create(GraphSchema, { nodes: [{ path: "a", kind: "action", effect }] });
    expect(() => graphRecord(graph)).toThrow('"sometimes" is no effect policy');
  });
});

describe("a source", () => {
  const file: SourceRecord = { path: "/a.ts", kind: "file", digest: "0".repeat(64), size: 3 };

  test.each<SourceRecord>([
    file,
    { path: "/m", kind: "package", size: 0, packageName: "yaml", packageVersion: "2.9.1" },
  ])("comes back from the wire as it was: $kind", (source) => {
    expect(sourceWithContent(sourceMessage(source))).toEqual(source);
  });

  test("brings its bytes, also when there are none", () => {
    const content = Buffer.from("abc");
    expect(sourceWithContent(sourceMessage(file, content)).content).toEqual(content);
    const empty = sourceWithContent(sourceMessage({ ...file, size: 0 }));
    expect(empty.content).toHaveLength(0);
  });

  test.each([
    [{ kind: SourceKind.UNSPECIFIED }, "neither a file nor a package"],
    [{ kind: SourceKind.FILE, digest: "abc" }, "not SHA-256"],
    [{ kind: SourceKind.PACKAGE, size: 2n ** 60n }, "out of range"],
  ])("that is %o is malformed", (change, problem) => {
    expect(() => sourceWithContent(create(SourceSchema, change))).toThrow(problem);
  });
});

describe("the end of an attempt", () => {
  test("is told with its output and its effect's receipt", () => {
    const message = create(AttemptResultSchema, {
      outcome: AttemptOutcome.OK,
      outputJson: Buffer.from('{"ü":1}'),
      effect: { effectId: "eff_1", kind: EffectOutcomeKind.APPLIED, receiptJson: Buffer.from("1") },
    });
    expect(attemptResult(message)).toEqual({
      outcome: "ok",
      outputJson: '{"ü":1}',
      effect: { effectId: "eff_1", kind: "applied", receiptJson: "1" },
    });
  });

  test.each([
    [AttemptOutcome.FAILED, "failed"],
    [AttemptOutcome.TIMED_OUT, "timed_out"],
    [AttemptOutcome.UNKNOWN, "unknown"],
  ] as const)("as %s is told with its error", (outcome, name) => {
    const error = { name: "E", message: "why", stack: "at" };
    expect(attemptResult(create(AttemptResultSchema, { outcome, error }))).toEqual({
      outcome: name,
      error,
    });
  });

  test("never lacks an error", () => {
    expect(failureRecord(undefined).message).not.toBe("");
    expect(failureRecord(create(FailureSchema, { message: "m" }))).toEqual({
      name: "Error",
      message: "m",
    });
  });
});

describe("a file that cannot be loaded", () => {
  test("always has a problem, and a reason that clients know", () => {
    expect(loadFailureRecord(create(LoadFailedSchema, { message: "why" }))).toMatchObject({
      reason: "WORKFLOW_INVALID",
      problems: [{ message: "why" }],
    });
    const failed = { reason: Reason.SOURCE_CHANGED, files: ["/a.ts"] };
    expect(loadFailureRecord(create(LoadFailedSchema, failed))).toMatchObject({
      reason: "SOURCE_CHANGED",
      files: ["/a.ts"],
    });
  });
});

describe("what a frame says", () => {
  test("is believed of everything but the token, which is the stream's", () => {
    const claim = { runId: "run_1", workerId: "wrk_1", generation: 3 };
    expect(proofOf(create(WorkRequestSchema, { claim }), "hash")).toEqual({
      ...claim,
      tokenHash: "hash",
    });
    expect(() => proofOf(create(WorkRequestSchema), "hash")).toThrow("it carries no claim");
  });

  test("has values of at most the documented size", () => {
    expect(jsonText("the output", new Uint8Array(VALUE_BYTES_MAX).fill(32))).toHaveLength(
      VALUE_BYTES_MAX,
    );
    expect(() => jsonText("the output", new Uint8Array(VALUE_BYTES_MAX + 1))).toThrow(
      `the output has ${VALUE_BYTES_MAX + 1} bytes as JSON; at most ${VALUE_BYTES_MAX} are allowed`,
    );
  });

  test("keeps a time that is not given apart from one that is zero", () => {
    expect(optionalMs(undefined)).toEqual({});
    expect(optionalMs(0n)).toEqual({ timeoutMs: 0 });
    expect(() => optionalMs(2n ** 63n)).toThrow("out of range");
  });
});
