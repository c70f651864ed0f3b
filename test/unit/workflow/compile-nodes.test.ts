import { describe, expect, test } from "vitest";
import { compile } from "../../../src/workflow/compile.ts";
import {
  action,
  checkpoint,
  compute,
  idempotentEffect,
  manualEffect,
  shell,
  wait,
} from "../../../src/workflow/nodes.ts";
import { legal, nodeProblems, problems, run, warnings } from "./findings-of.ts";

describe("a node with faults", () => {
  test.each<[unknown, string]>([
    [
      { run },
      "nodes.a: must be made by one of compute(), action(), shell(), agent(), decision(), checkpoint(), humanDecision(), notify(), wait(), not an object",
    ],
    [
      run,
      "nodes.a: must be made by one of compute(), action(), shell(), agent(), decision(), checkpoint(), humanDecision(), notify(), wait(), not a function",
    ],
    [
      { [Symbol.for("pi-workflows.node")]: 1, kind: "telepathy" },
      'nodes.a: is of kind "telepathy", which this version does not know',
    ],
    [
      { [Symbol.for("pi-workflows.node")]: 1, kind: "toString" },
      'nodes.a: is of kind "toString", which this version does not know',
    ],
  ])("is refused when no builder made it", (value, message) => {
    expect(problems({ nodes: { a: value } })).toEqual([message]);
  });

  test.each<[string, unknown]>([
    ["must be more than 0 ms, not 0", 0],
    ["must be more than 0 ms, not -5", -5],
    ["must be a finite number of milliseconds, not NaN", Number.NaN],
    ["must be a finite number of milliseconds, not Infinity", Number.POSITIVE_INFINITY],
    ['must be a number of milliseconds, not "5m"', "5m"],
  ])("is refused for its timeout: %s", (message, timeoutMs) => {
    expect(nodeProblems(compute, { run, timeoutMs })).toEqual([`nodes.a.timeoutMs: ${message}`]);
    expect(nodeProblems(wait, { forMs: timeoutMs })).toEqual([`nodes.a.forMs: ${message}`]);
  });

  test.each<[object, string]>([
    [{ maxAttempts: 0 }, "maxAttempts: must be a whole number from 1 to 1000, not 0"],
    [{ maxAttempts: 1001 }, "maxAttempts: must be a whole number from 1 to 1000, not 1001"],
    [{ maxAttempts: 2.5 }, "maxAttempts: must be a whole number from 1 to 1000, not 2.5"],
    [{}, "maxAttempts: must be a whole number from 1 to 1000, not undefined"],
    [{ maxAttempts: 2, backoffMs: -1 }, "backoffMs: must be more than 0 ms, not -1"],
    [{ maxAttempts: 2, factor: 0.5 }, "factor: must be a number from 1, not 0.5"],
    [{ maxAttempts: 2, factor: Number.NaN }, "factor: must be a number from 1, not NaN"],
    [
      { maxAttempts: 2, backoffMs: 50, maxBackoffMs: 40 },
      "maxBackoffMs: must not be less than backoffMs (50)",
    ],
    [
      { maxAttempts: 2, maxBackoffMs: Number.POSITIVE_INFINITY },
      "maxBackoffMs: must be a finite number of milliseconds, not Infinity",
    ],
  ])("is refused for its retry %j", (retry, message) => {
    expect(nodeProblems(compute, { run, retry })).toEqual([`nodes.a.retry.${message}`]);
  });

  test("may pause not at all between attempts", () => {
    const retry = { maxAttempts: 1_000, backoffMs: 0 };
    const { graph } = compile({ ...legal, nodes: { a: compute({ run, retry }) } });
    expect(graph?.nodes[0]?.retry).toEqual({
      maxAttempts: 1_000,
      backoffMs: 0,
      factor: 2,
      maxBackoffMs: 60_000,
    });
  });

  test("is refused for a retry on a manual effect, stated or assumed", () => {
    const retry = { maxAttempts: 2 };
    const message = "nodes.a.retry: is refused on a manual effect, which only a person may repeat";
    expect(nodeProblems(action, { run, retry, effect: manualEffect("x") })).toEqual([message]);
    expect(nodeProblems(shell, { exec: run, retry })).toEqual([message]);
    expect(nodeProblems(action, { run, retry, effect: idempotentEffect("x") })).toEqual([]);
  });

  test.each<[(options: never) => unknown, object, string[]]>([
    [compute, { run: 5 }, ["nodes.a.run: must be a function, not 5"]],
    [compute, { run, retry: 3 }, ["nodes.a.retry: must be { maxAttempts, … }, not 3"]],
    [compute, { run, statusDetail: 5 }, ["nodes.a.statusDetail: must be a text, not 5"]],
    [
      compute,
      { run, statusDetail: "x".repeat(257) },
      ["nodes.a.statusDetail: has 257 bytes, more than 256"],
    ],
    [
      action,
      { effect: "x", run },
      ["nodes.a.effect: must be made by idempotentEffect() or manualEffect()"],
    ],
    [action, { effect: manualEffect(""), run }, ["nodes.a.effect.type: must not be empty"]],
    [
      action,
      { effect: manualEffect("a\u0000b"), run },
      ['nodes.a.effect.type: "a\\u0000b" holds a control character'],
    ],
    [
      action,
      { effect: idempotentEffect("x", { observe: 1 } as never), run },
      ["nodes.a.effect.observe: must be a function, not 1"],
    ],
    [shell, { effect: manualEffect("x") }, ["nodes.a.exec: must be a function, not undefined"]],
    [
      shell,
      { effect: manualEffect("x"), exec: run, parse: {} },
      ["nodes.a.parse: must be a function, not an object"],
    ],
    [
      shell,
      { effect: manualEffect("x"), exec: run, updates: 5 },
      ["nodes.a.updates: must be true, false or a function, not 5"],
    ],
    [checkpoint, {}, ["nodes.a.summary: must be a text or a function, not undefined"]],
    [checkpoint, { summary: "" }, ['nodes.a.summary: must be a text or a function, not ""']],
    [checkpoint, { summary: "x", run: 5 }, ["nodes.a.run: must be a function, not 5"]],
    [
      checkpoint,
      { summary: "x", schema: "string" },
      ['nodes.a.schema: must be a JSON Schema, not "string"'],
    ],
    [
      checkpoint,
      { summary: "x", schema: { pattern: /x/ } },
      [
        "nodes.a.schema: must be a JSON Schema in plain JSON: .pattern: RegExp is not JSON; use its source",
      ],
    ],
    [wait, {}, ["nodes.a: must have exactly one of forMs and until"]],
    [wait, { forMs: 5, until: run }, ["nodes.a: must have exactly one of forMs and until"]],
    [wait, { until: new Date() }, ["nodes.a.until: must be a function, not an object"]],
  ])("is refused: %o %j", (builder, options, found) => {
    expect(nodeProblems(builder, options)).toEqual(found);
  });

  test("warns of observe on a manual effect, which nothing would call", () => {
    const effect = manualEffect("x", { observe: run } as never);
    expect(warnings({ nodes: { a: action({ effect, run }) } })).toEqual([
      expect.stringMatching(/^nodes\.a\.effect\.observe: unknown field/),
    ]);
  });
});
