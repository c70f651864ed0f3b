import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromJson, toJson, toJsonString } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { ReadRunLogResponse } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { ValueKind } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import { HostError } from "../../src/host/errors.ts";
import {
  EVENT_PAGE_MAX,
  OUTPUT_TAIL_BYTES,
  PAGE_MAX,
  VIEW_TEXT_CHARS_MAX,
} from "../../src/host/limits.ts";
import { command, rejected, startHandlers, tailOf } from "../support/handler-rig.ts";
import { OK, next } from "../support/test-worker.ts";

const value = (json: JsonValue): Value => fromJson(ValueSchema, json);
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

describe("a value", () => {
  test.each([
    "null",
    "false",
    "0",
    '""',
    "[]",
    "{}",
    '{"a":[1,-2.5e-7,{"ü":"é\\u0000\\n"}],"":null}',
    "9007199254740991",
    nested(500),
  ])("comes back as it was given: %j", async (json) => {
    const { runs, rig } = startHandlers();
    const runId = await rig.admit({ inputJson: json });
    const answer = await runs.getRunValue({ runId, kind: ValueKind.INPUT });
    expect(JSON.stringify(toJson(ValueSchema, answer.value ?? value(7)))).toBe(json);
    const { run } = await runs.getRun({ runId });
    expect(run?.inputTruncated).toBe(false);
    expect(toJsonString(ValueSchema, run?.input ?? value(7))).toBe(json);
  });

  test("that is long is cut in a view, marked, and whole behind its id", async () => {
    const { runs, rig } = startHandlers();
    const inputJson = JSON.stringify({ text: "ä".repeat(VIEW_TEXT_CHARS_MAX) });
    const runId = await rig.admit({ inputJson });
    const { run } = await runs.getRun({ runId });
    expect(run?.inputTruncated).toBe(true);
    expect(run?.input?.kind.value).toBe(`${inputJson.slice(0, VIEW_TEXT_CHARS_MAX)}…`);
    const whole = await runs.getRunValue({ runId, kind: ValueKind.INPUT });
    expect(toJsonString(ValueSchema, whole.value ?? value(0))).toBe(inputJson);
  });

  test("of a node is its newest accepted output", async () => {
    const { runs, rig } = startHandlers();
    const worker = await rig.running("hub");
    await worker.advance({ outcome: "ok", outputJson: '{"n":1}' }, next("hub"));
    const request = { runId: worker.runId, kind: ValueKind.OUTPUT, node: "hub" };
    expect((await runs.getRunValue(request)).value).toEqual(value({ n: 1 }));
    expect((await runs.getRunValue({ ...request, node: "end" })).value).toBeUndefined();
    const unnamed = { ...request, node: "" };
    expect((await rejected(runs.getRunValue(unnamed))).reason).toBe(Reason.REQUEST_INVALID);
    expect((await rejected(runs.getRunValue({ runId: worker.runId }))).reason).toBe(
      Reason.REQUEST_INVALID,
    );
  });
});

describe("GetRun", () => {
  test("shows the attempts, what waits and where", async () => {
    const { runs, rig } = startHandlers();
    const worker = await rig.running("hub");
    await worker.advance(OK, next("ask"));
    const interactionId = await worker.ask({ timeoutMs: 60_000 });
    const { run } = await runs.getRun({ runId: worker.runId });
    expect(run?.summary).toMatchObject({
      status: RunStatus.WAITING,
      node: "ask",
      steps: 2,
      interactionId,
    });
    expect(run?.summary?.dueAt).toBeDefined();
    expect(run?.attempts.map(({ node, status }) => [node, status])).toEqual([
      ["hub", AttemptStatus.OK],
      ["ask", AttemptStatus.WAITING],
    ]);
    expect(run?.interaction).toMatchObject({ interactionId, summary: "Ship it?" });
    expect(run?.worker).toMatchObject({ workerId: worker.proof.workerId, generation: 1 });
    expect(run?.outputTail).toBe(tailOf(worker.proof.workerId));
  });

  test("shows the end of what all workers wrote, the newest last", async () => {
    const { runs, rig } = startHandlers();
    const workers = [await rig.running("hub")];
    const { runId } = workers[0] ?? { runId: "" };
    for (let count = 1; count < 3; count += 1) {
      const last = workers.at(-1);
      if (last === undefined) throw new Error("there is no worker");
      await rig.lose(last, { counted: false });
      await rig.exit(last.proof.workerId);
      workers.push(await rig.relaunch(runId));
    }
    const { run } = await runs.getRun({ runId });
    const all = workers.map(({ proof }) => tailOf(proof.workerId)).join("");
    const tail = run?.outputTail ?? "";
    expect(tail.length).toBeLessThan(all.length);
    expect(all.endsWith(tail)).toBe(true);
    expect(Buffer.byteLength(tail)).toBeGreaterThan(OUTPUT_TAIL_BYTES - 2);
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(OUTPUT_TAIL_BYTES);
  });
});

describe("a list", () => {
  test("of runs pages from the newest, each once, also when new ones come meanwhile", async () => {
    const { runs, rig } = startHandlers();
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await rig.admit());
    const first = await runs.listRuns({ pageSize: 2 });
    await rig.admit();
    const second = await runs.listRuns({ pageSize: 2, pageToken: first.nextPageToken });
    const third = await runs.listRuns({ pageSize: 2, pageToken: second.nextPageToken });
    const listed = [first, second, third].flatMap((page) => page.runs.map(({ runId }) => runId));
    expect(listed).toEqual(ids.toReversed());
    expect(third.nextPageToken).toBe("");
  });

  test("of runs keeps to its filters", async () => {
    const { runs, rig } = startHandlers();
    const here = await rig.admit();
    const elsewhere = await rig.admit({ projectDir: "/other" });
    await runs.cancelRun({ command: command(), runId: here });
    const of = async (request: Parameters<typeof runs.listRuns>[0]): Promise<string[]> =>
      (await runs.listRuns(request)).runs.map(({ runId }) => runId);
    expect(await of({ statuses: [RunStatus.CANCELLED] })).toEqual([here]);
    expect(await of({ projectDir: "/other" })).toEqual([elsewhere]);
    expect(await of({ workflow: "hub", projectDir: "/nowhere" })).toEqual([]);
  });

  test.each(["x", "-1", "1;2", "9".repeat(16)])(
    "refuses a page token it never gave: %s",
    async (pageToken) => {
      const { runs } = startHandlers();
      expect((await rejected(runs.listRuns({ pageToken }))).reason).toBe(Reason.REQUEST_INVALID);
    },
  );

  test("refuses a status that there is not", async () => {
    const { runs } = startHandlers();
    const statuses = [99 as RunStatus];
    expect((await rejected(runs.listRuns({ statuses }))).reason).toBe(Reason.REQUEST_INVALID);
  });

  test("is bounded, however much is asked for", async () => {
    const { runs, rig } = startHandlers();
    await rig.admit();
    const page = await runs.listRuns({ pageSize: 4_000_000_000 });
    expect(page.runs.length).toBeLessThanOrEqual(PAGE_MAX);
    const events = await runs.listEvents({
      runId: page.runs[0]?.runId ?? "",
      pageSize: 4_000_000_000,
    });
    expect(events.events.length).toBeLessThanOrEqual(EVENT_PAGE_MAX);
  });

  test("of events goes on after a revision and says when nothing can follow", async () => {
    const { runs, rig } = startHandlers();
    const runId = await rig.admit();
    await runs.pauseRun({ command: command(), runId });
    const first = await runs.listEvents({ runId, pageSize: 1 });
    expect(first).toMatchObject({ more: true, terminal: false });
    expect(first.events.map(({ kind }) => kind)).toEqual(["admit"]);
    await runs.cancelRun({ command: command(), runId });
    const rest = await runs.listEvents({ runId, afterRevision: 1n });
    expect(rest.events.map(({ kind, revision }) => [kind, revision])).toEqual([
      ["pause", 2n],
      ["cancel", 3n],
    ]);
    expect(rest).toMatchObject({ more: false, terminal: true });
    expect(rest.events[0]?.data).toMatchObject({ from: "queued" });
  });

  test("of questions and effects pages too", async () => {
    const { interactions, effects, rig } = startHandlers();
    const asked = [];
    for (let count = 0; count < 3; count += 1) {
      const worker = await rig.running("ask");
      asked.push(await worker.ask());
    }
    const first = await interactions.listInteractions({ pageSize: 2 });
    const second = await interactions.listInteractions({
      pageSize: 2,
      pageToken: first.nextPageToken,
    });
    const listed = [...first.interactions, ...second.interactions];
    expect(listed.map(({ interactionId }) => interactionId)).toEqual(asked);
    expect(second.nextPageToken).toBe("");
    expect((await effects.listEffects({})).effects).toEqual([]);
  });
});

describe("ValidateWorkflow", () => {
  test("answers with the graph, or with the problems, and stores nothing", async () => {
    const { runs, rig, resolver } = startHandlers();
    const request = { workflow: "hub", projectDir: "/project" };
    const sound = await runs.validateWorkflow(request);
    expect(sound.graph?.nodes.map(({ path }) => path)).toContain("hub");
    expect(sound.warnings).toMatchObject([{ message: "a warning", line: 3 }]);
    resolver.refusal = new HostError("WORKFLOW_INVALID", "1 problem", {
      problems: [{ message: "no such node", place: "edges[0]" }],
    });
    const broken = await runs.validateWorkflow(request);
    expect(broken.graph).toBeUndefined();
    expect(broken).toMatchObject({
      workflowPath: "/flows/hub.ts",
      problems: [{ message: "no such node", place: "edges[0]" }],
    });
    expect(rig.reader.runs.lastPosition()).toBe(0);
  });
});

describe("ReadRunLog", () => {
  const OUTPUT = "first\nsecond\n";

  /** The text of one piece after the other; nothing at the end. */
  function reading(stream: AsyncIterable<ReadRunLogResponse>): () => Promise<string | undefined> {
    const pieces = stream[Symbol.asyncIterator]();
    return async () => {
      const result: IteratorResult<ReadRunLogResponse, unknown> = await pieces.next();
      return result.done === true ? undefined : Buffer.from(result.value.data).toString();
    };
  }

  function capture(text: string): string {
    const digits = String(text.length).padStart(16, "0");
    return `${`pi-workflows-output 1 ${digits} ${digits}`.padEnd(63)}\n${text}`;
  }

  test.each([
    [0, OUTPUT],
    [7, "second\n"],
  ])("sends what is kept of each worker, or the last %i bytes", async (tailBytes, expected) => {
    const { runs, rig, workersDir } = startHandlers();
    const worker = await rig.running("hub");
    writeFileSync(join(workersDir, `${worker.proof.workerId}.out`), capture(OUTPUT));
    let text = "";
    const request = { runId: worker.runId, tailBytes: BigInt(tailBytes) };
    for await (const piece of runs.readRunLog(request)) {
      expect(piece.workerId).toBe(worker.proof.workerId);
      text += Buffer.from(piece.data).toString();
    }
    expect(text).toBe(expected);
  });

  test("goes on with the next worker and ends with the run", async () => {
    const { runs, rig, workersDir } = startHandlers();
    const first = await rig.running("hub");
    writeFileSync(join(workersDir, `${first.proof.workerId}.out`), capture("one"));
    const pieces = reading(runs.readRunLog({ runId: first.runId, follow: true }));
    expect(await pieces()).toBe("one");
    const following = pieces();
    await rig.lose(first, { counted: false });
    await rig.exit(first.proof.workerId);
    const second = await rig.launch(first.runId);
    writeFileSync(join(workersDir, `${second.proof.workerId}.out`), capture("two"));
    await second.attach();
    expect(await following).toBe("two");
    const end = pieces();
    await runs.cancelRun({ command: command(), runId: first.runId });
    expect(await end).toBeUndefined();
  });
});
