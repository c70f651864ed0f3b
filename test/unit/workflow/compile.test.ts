import { describe, expect, test } from "vitest";
import { compile } from "../../../src/workflow/compile.ts";
import { formatProblem } from "../../../src/workflow/errors.ts";
import {
  action,
  checkpoint,
  compute,
  idempotentEffect,
  manualEffect,
  shell,
  wait,
} from "../../../src/workflow/nodes.ts";
import { legal, problems, run, warnings } from "./findings-of.ts";

describe("a legal definition", () => {
  test("becomes a graph of plain data", () => {
    const {
      graph,
      problems: found,
      warnings: told,
    } = compile({
      name: "release",
      title: "a title",
      input: (value: unknown) => value,
      startAt: "collect",
      maxSteps: 7,
      nodes: {
        collect: shell({
          effect: idempotentEffect("git.log"),
          exec: () => ({ command: "git" }),
          statusDetail: "reading git",
        }),
        judge: compute({ run, retry: { maxAttempts: 3 } }),
        publish: action({ effect: manualEffect("github.release"), run }),
        ask: checkpoint({ summary: "Publish?", schema: { type: "boolean" } }),
        pause: wait({ forMs: 2 ** 40, timeoutMs: null }),
        "näme with space.and dot": action({
          effect: idempotentEffect("put", {
            request: run,
            observe: () => ({ applied: false }),
          }),
          run,
          retry: { maxAttempts: 2, backoffMs: 90_000, factor: 1, maxBackoffMs: 90_000 },
        }),
      },
      edges: [
        { from: "collect", to: "judge" },
        {
          from: "judge",
          switch: {
            on: "$.route",
            cases: { yes: "ask", no: "collect", 3: "pause" },
            default: "publish",
          },
        },
        {
          from: "ask",
          switch: { on: "$result.outcome", cases: { ok: "publish", timed_out: "pause" } },
        },
        { from: "pause", to: "näme with space.and dot" },
      ],
    });
    expect(found).toEqual([]);
    expect(told).toEqual([]);
    expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
    expect(graph).toEqual({
      name: "release",
      startAt: "collect",
      maxSteps: 7,
      nodes: [
        {
          path: "collect",
          kind: "shell",
          statusDetail: "reading git",
          effect: { policy: "idempotent", type: "git.log" },
        },
        {
          path: "judge",
          kind: "compute",
          retry: { maxAttempts: 3, backoffMs: 1_000, factor: 2, maxBackoffMs: 60_000 },
        },
        { path: "publish", kind: "action", effect: { policy: "manual", type: "github.release" } },
        { path: "ask", kind: "checkpoint" },
        { path: "pause", kind: "wait" },
        {
          path: "näme with space.and dot",
          kind: "action",
          effect: { policy: "idempotent", type: "put" },
          retry: { maxAttempts: 2, backoffMs: 90_000, factor: 1, maxBackoffMs: 90_000 },
        },
      ],
      edges: [
        { from: "collect", to: "judge" },
        {
          from: "judge",
          on: "$.route",
          cases: [
            { value: "3", to: "pause" },
            { value: "yes", to: "ask" },
            { value: "no", to: "collect" },
          ],
          default: "publish",
        },
        {
          from: "ask",
          on: "$result.outcome",
          cases: [
            { value: "ok", to: "publish" },
            { value: "timed_out", to: "pause" },
          ],
        },
        { from: "pause", to: "näme with space.and dot" },
      ],
    });
  });

  test("needs neither edges nor maxSteps, and then may take 100 steps", () => {
    expect(compile(legal).graph).toEqual({
      name: "legal",
      startAt: "a",
      maxSteps: 100,
      nodes: [{ path: "a", kind: "compute" }],
      edges: [],
    });
  });

  test("may hold nodes that another copy of the package made", () => {
    const foreign = { [Symbol.for("pi-workflows.node")]: 1, kind: "compute", run };
    expect(problems({ nodes: { a: foreign } })).toEqual([]);
  });

  test("counts an action or a shell node without an effect as manual, with a warning", () => {
    const { graph, warnings: told } = compile({
      ...legal,
      nodes: { a: action({ run }), b: shell({ exec: () => ({ command: "x" }) }) },
      edges: [{ from: "a", to: "b" }],
    });
    expect(graph?.nodes.map(({ effect }) => effect)).toEqual([
      { policy: "manual", type: "a" },
      { policy: "manual", type: "b" },
    ]);
    expect(told.map(formatProblem)).toEqual([
      'nodes.a.effect: no effect is stated, so it counts as manualEffect("a")',
      'nodes.b.effect: no effect is stated, so it counts as manualEffect("b")',
    ]);
  });

  test("warns of unknown fields and names the nearest known one", () => {
    const told = warnings({
      startat: "a",
      nodes: {
        a: compute({ run, timeout: 5, retry: { maxAttempts: 2, maxBackoff: 5 } } as never),
        b: action({
          run,
          effect: idempotentEffect("x", { requst: run } as never),
          presentationPrompt: "p",
        } as never),
      },
      edges: [
        { from: "a", to: "b", lable: "x" },
        { from: "b", switch: { on: "$.x", cases: {}, default: "a", defualt: "a" } },
      ],
    });
    expect(told).toEqual([
      "startat: unknown field, which is ignored; the nearest known field is startAt",
      "nodes.a.timeout: unknown field, which is ignored; the nearest known field is timeoutMs",
      "nodes.a.retry.maxBackoff: unknown field, which is ignored; the nearest known field is maxBackoffMs",
      expect.stringMatching(/^nodes\.b\.presentationPrompt: unknown field/),
      "nodes.b.effect.requst: unknown field, which is ignored; the nearest known field is request",
      expect.stringMatching(/^edges\[0\]\.lable: unknown field/),
      "edges[1].switch.defualt: unknown field, which is ignored; the nearest known field is default",
    ]);
  });
});
