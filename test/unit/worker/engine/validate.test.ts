import { describe, expect, test, vi } from "vitest";
import { SourceChangedInRun } from "../../../../src/worker/engine/drive.ts";
import { ProposalRefused } from "../../../../src/worker/engine/run-link.ts";
import { agent, CancelledError, compute, decision } from "../../../../src/workflow/index.ts";
import type { AgentNode } from "../../../../src/workflow/index.ts";
import { rigFor } from "../../../support/engine-rig.ts";
import type { EngineRig } from "../../../support/engine-rig.ts";

function rigWith(validate: AgentNode["validate"]): EngineRig {
  return rigFor({
    name: "w",
    startAt: "draft",
    nodes: {
      draft: agent({ prompt: "Draft.", ...(validate === undefined ? {} : { validate }) }),
      count: compute({ run: ({ outputs }) => JSON.stringify(outputs["draft"]).length }),
    },
    edges: [{ from: "draft", to: "count" }],
  });
}

describe("an activation that validates", () => {
  test("advances with the accepted value and goes on in the same worker", async () => {
    const { link, validate, state } = rigWith((value) => ({ value }));
    await validate("x");
    expect(link.said).toEqual(["ok -> count", "ok -> end ok"]);
    expect(link.ends[0]).toEqual({ kind: "ok", outputJson: '{"value":"x"}' });
    expect(link.follows[1]).toMatchObject({ resultJson: "13" });
    expect(state.resultOf("draft")).toMatchObject({ outcome: "ok", output: { value: "x" } });
  });

  test("routes by what was decided", async () => {
    const { link, validate } = rigFor({
      name: "w",
      startAt: "judge",
      nodes: {
        judge: decision({ question: "?", choices: ["yes", "no"] }),
        done: compute({ run: () => 1 }),
        again: compute({ run: () => 2 }),
      },
      edges: [{ from: "judge", switch: { on: "$.route", cases: { yes: "done", no: "again" } } }],
    });
    await validate({ route: "no" });
    expect(link.said).toEqual(["ok -> again", "ok -> end ok"]);
  });

  test("says why it refuses a value, and does nothing else", async () => {
    const { link, validate, state } = rigWith(() => Promise.reject(new Error("too short")));
    await validate("x");
    expect(link.said).toEqual(["rejected: too short"]);
    expect(state.resultOf("draft")).toBeUndefined();
  });

  test("never fails the attempt, also where the refusal is not taken", async () => {
    const { link, validate } = rigWith(() => Promise.reject(new Error("too short")));
    link.refuse = 1;
    await expect(validate("x")).rejects.toThrow(ProposalRefused);
    expect(link.said).toEqual([]);
  });

  test("ends without a word when it is stopped, however long the author's code takes", async () => {
    const { stop, link, validate } = rigWith(() => new Promise(() => undefined));
    const done = validate("x");
    stop.abort(new CancelledError());
    await done;
    expect(link.said).toEqual([]);
    await validate("x");
    expect(link.said).toEqual([]);
  });

  test("hands the stop on to the author's code, whose last word is not waited for", async () => {
    const reasons: unknown[] = [];
    const listening = vi.fn<() => void>();
    const { stop, link, validate } = rigWith(
      (_value, { signal }) =>
        new Promise((_resolve, reject) => {
          listening();
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(new Error("stopped"));
          });
        }),
    );
    const done = validate("x");
    await vi.waitFor(() => expect(listening).toHaveBeenCalled());
    const reason = new CancelledError();
    stop.abort(reason);
    await done;
    expect(reasons).toEqual([reason]);
    expect(link.said).toEqual([]);
  });

  test("refuses a value that is not decided on in time", async () => {
    const { clock, link, validate } = rigWith(() => new Promise(() => undefined));
    const done = validate("x");
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    clock.advance(25_000);
    await done;
    expect(link.said).toEqual(["rejected: the result was not validated within 25 seconds"]);
    expect(clock.pending).toBe(0);
  });

  test("blocks the run when a file has changed under it", async () => {
    const changed = Object.assign(new Error("a.ts has changed"), { name: "SourceChangedError" });
    const { link, validate } = rigWith(() => Promise.reject(changed));
    await expect(validate("x")).rejects.toThrow(SourceChangedInRun);
    expect(link.said).toEqual([]);
  });
});

describe("a step that waits for somebody", () => {
  const day = 24 * 3_600_000;

  test.each<[object, number | undefined]>([
    [{}, day],
    [{ timeoutMs: null }, undefined],
    [{ timeoutMs: 1.5 }, 2],
    [{ timeoutMs: () => 60_000 }, 60_000],
  ])("has the limit that %j says", async (options, timeoutMs) => {
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: { a: agent({ prompt: "x", ...options }) },
    });
    await run();
    expect(link.said).toEqual(["asks agent"]);
    expect(link.requests[0]?.timeoutMs).toBe(timeoutMs);
  });
});
