import { fromJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { HostError } from "../../src/host/errors.ts";
import { NAME_BYTES_MAX, VALUE_BYTES_MAX } from "../../src/host/limits.ts";
import { command, rejected, startHandlers } from "../support/handler-rig.ts";

const PLACE = { workflow: "hub", projectDir: "/project" };
const value = (json: JsonValue): Value => fromJson(ValueSchema, json);

describe("StartRun", () => {
  test("admits the run and offers it the worker that loaded the file", async () => {
    const { runs, rig, resolver } = startHandlers();
    const notBefore = timestampFromMs(rig.at.clock.now() + 60_000);
    const { receipt, warnings } = await runs.startRun({
      command: command(),
      ...PLACE,
      input: value({ to: "end" }),
      notBefore,
      priority: -3,
    });
    const runId = receipt?.runId ?? "";
    expect(receipt?.outcome).toBe(Outcome.COMMITTED);
    expect(warnings.map(({ message }) => message)).toEqual(["a warning"]);
    expect(rig.run(runId)).toMatchObject({
      workflow: "hub",
      title: "a hub",
      workflowPath: "/flows/hub.ts",
      projectDir: "/project",
      priority: -3,
      availableAt: rig.at.clock.now() + 60_000,
      input: { json: '{"to":"end"}' },
    });
    expect(resolver.offers).toEqual([runId]);
  });

  test("answers a repeat from its receipt without loading anything again", async () => {
    const { runs, resolver } = startHandlers();
    const first = await runs.startRun({ command: command("k"), ...PLACE });
    const again = await runs.startRun({ command: command("k"), ...PLACE });
    expect(again.receipt).toEqual({ ...first.receipt, outcome: Outcome.ADOPTED });
    expect(resolver.loads).toHaveLength(1);
  });

  test("answers a repeat also when the workflow cannot be found any more", async () => {
    const { runs, resolver } = startHandlers();
    await runs.startRun({ command: command("k"), ...PLACE });
    resolver.find = () => {
      throw new HostError("WORKFLOW_NOT_FOUND", "gone");
    };
    const again = await runs.startRun({ command: command("k"), ...PLACE });
    expect(again.receipt?.outcome).toBe(Outcome.ADOPTED);
  });

  test("makes one run of twenty calls at once with one key", async () => {
    const { runs, rig, resolver } = startHandlers();
    const gate = Promise.withResolvers<void>();
    resolver.gate = gate.promise;
    const calls = Array.from({ length: 20 }, () =>
      runs.startRun({ command: command("k"), ...PLACE }),
    );
    await expect.poll(() => resolver.loads.length).toBe(1);
    gate.resolve();
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ receipt }) => receipt?.runId)).size).toBe(1);
    const outcomes = answers.map(({ receipt }) => receipt?.outcome);
    expect(outcomes.filter((one) => one === Outcome.COMMITTED)).toHaveLength(1);
    expect(rig.reader.runs.lastPosition()).toBe(1);
    expect(resolver.loads).toHaveLength(1);
  });

  test("refuses a key that was used with other content, settled or in flight", async () => {
    const { runs, resolver } = startHandlers();
    const gate = Promise.withResolvers<void>();
    resolver.gate = gate.promise;
    const first = runs.startRun({ command: command("k"), ...PLACE });
    await expect.poll(() => resolver.loads.length).toBe(1);
    const other = { command: command("k"), ...PLACE, input: value(2) };
    expect((await rejected(runs.startRun(other))).reason).toBe(Reason.IDEMPOTENCY_CONFLICT);
    gate.resolve();
    await first;
    expect((await rejected(runs.startRun(other))).reason).toBe(Reason.IDEMPOTENCY_CONFLICT);
  });

  test("takes a key again after a refusal, which is not stored", async () => {
    const { runs, resolver } = startHandlers();
    resolver.refusal = new HostError("WORKFLOW_INVALID", "2 problems", {
      problems: [{ message: "one", file: "/f.ts", line: 2, column: 3 }, { message: "two" }],
    });
    const refusal = await rejected(runs.startRun({ command: command("k"), ...PLACE }));
    expect(refusal.reason).toBe(Reason.WORKFLOW_INVALID);
    expect(refusal.problems).toMatchObject([
      { message: "one", file: "/f.ts", line: 2, column: 3 },
      { message: "two", file: "", line: 0 },
    ]);
    resolver.refusal = undefined;
    const { receipt } = await runs.startRun({ command: command("k"), ...PLACE });
    expect(receipt?.outcome).toBe(Outcome.COMMITTED);
  });

  test("tells near names of an unknown workflow", async () => {
    const { runs } = startHandlers();
    const call = runs.startRun({ command: command(), ...PLACE, workflow: "missing" });
    expect(await rejected(call)).toMatchObject({
      reason: Reason.WORKFLOW_NOT_FOUND,
      code: Code.NotFound,
      names: ["hub"],
    });
  });

  test.each([
    ["command", { workflow: "w", projectDir: "/p" }],
    ["command.request_id", { command: {}, workflow: "w", projectDir: "/p" }],
    ["workflow", { command: { requestId: "r" }, projectDir: "/p" }],
    ["project_dir", { command: { requestId: "r" }, workflow: "w" }],
    ["project_dir", { command: { requestId: "r" }, workflow: "w", projectDir: "../p" }],
    ["project_dir", { command: { requestId: "r" }, workflow: "w", projectDir: "/p\0q" }],
    ["priority", { command: { requestId: "r" }, workflow: "w", projectDir: "/p", priority: 101 }],
    [
      "not_before",
      {
        command: { requestId: "r" },
        workflow: "w",
        projectDir: "/p",
        notBefore: { seconds: -1n, nanos: 0 },
      },
    ],
    [
      "input",
      {
        command: { requestId: "r" },
        workflow: "w",
        projectDir: "/p",
        input: { kind: { case: "numberValue" as const, value: Number.NaN } },
      },
    ],
  ])("names the field that is missing or malformed: %s", async (field, request) => {
    const { runs, rig } = startHandlers();
    const refusal = await rejected(runs.startRun(request));
    expect(refusal.reason).toBe(Reason.REQUEST_INVALID);
    expect(refusal.message.startsWith(`${field} `)).toBe(true);
    expect(rig.reader.runs.lastPosition()).toBe(0);
  });

  test("takes an input of exactly the largest size, and tells by how much a larger one is over", async () => {
    const { runs } = startHandlers();
    const largest = value("x".repeat(VALUE_BYTES_MAX - 2));
    await runs.startRun({ command: command(), ...PLACE, input: largest });
    const larger = value("x".repeat(VALUE_BYTES_MAX - 1));
    expect(
      await rejected(runs.startRun({ command: command(), ...PLACE, input: larger })),
    ).toMatchObject({
      reason: Reason.LIMIT_EXCEEDED,
      limit: BigInt(VALUE_BYTES_MAX),
      actual: BigInt(VALUE_BYTES_MAX + 1),
    });
  });

  test("bounds keys by bytes, not by characters", async () => {
    const { runs } = startHandlers();
    const longest = "é".repeat(NAME_BYTES_MAX / 2);
    await runs.startRun({ command: command(longest), ...PLACE });
    const call = runs.startRun({ command: command(`${longest}e`), ...PLACE });
    expect((await rejected(call)).reason).toBe(Reason.LIMIT_EXCEEDED);
  });
});
