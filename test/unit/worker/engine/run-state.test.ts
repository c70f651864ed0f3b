import { describe, expect, test } from "vitest";
import { RunState } from "../../../../src/worker/engine/run-state.ts";

const FACTS = { runId: "run_1", workflow: "w", projectDir: "/p" };
const SIGNAL = new AbortController().signal;
const TIMES = { visit: 1, attempt: 1, startedAtMs: 0, finishedAtMs: 1_000 };

function stateWith(outputJson: string): RunState {
  const state = new RunState(FACTS, `{"tag":"v1"}`);
  state.record("a", { outcome: "ok", outputJson, ...TIMES });
  return state;
}

describe("what author code sees of a run", () => {
  test("is frozen, down to the last member", () => {
    const context = stateWith(`{"list":[{"deep":1}]}`).context({ visit: 1, attempt: 2 }, SIGNAL);
    const { list } = context.outputs["a"] as { list: { deep: number }[] };
    expect(() => list.push({ deep: 2 })).toThrow(TypeError);
    expect(() => Object.assign(list[0] ?? {}, { deep: 2 })).toThrow(TypeError);
    expect(() => Object.assign(context.input as object, { tag: "v2" })).toThrow(TypeError);
    expect(() => Object.assign(context.run, { id: "other" })).toThrow(TypeError);
  });

  test.each(["false", "0", `""`, "null", "[]", "{}"])("keeps the output %s", (json) => {
    const { outputs, results } = stateWith(json).context({ visit: 1, attempt: 1 }, SIGNAL);
    expect(JSON.stringify(outputs["a"])).toBe(json);
    expect(JSON.stringify(results["a"]?.output)).toBe(json);
  });

  test("loses the output of a node whose newest result is no longer ok", () => {
    const state = stateWith("1");
    const error = { name: "Error", message: "no" };
    state.record("a", { outcome: "failed", error, ...TIMES, visit: 2 });
    const { outputs, results } = state.context({ visit: 1, attempt: 1 }, SIGNAL);
    expect("a" in outputs).toBe(false);
    expect(results["a"]).toMatchObject({ outcome: "failed", error });
    expect(state.visitsOf("a")).toBe(2);
  });

  test("stays what it was when the run goes on", () => {
    const state = stateWith("1");
    const before = state.context({ visit: 1, attempt: 1 }, SIGNAL);
    state.record("b", { outcome: "ok", outputJson: "2", ...TIMES });
    expect("b" in before.outputs).toBe(false);
  });

  test("is built without recursion, however deep a value is", () => {
    const json = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    expect(stateWith(json).resultOf("a")?.outcome).toBe("ok");
  });
});
