import { describe, expect, test } from "vitest";
import { argumentProblem, piArguments } from "../../../../src/host/headless/pi-arguments.ts";
import { modelKey } from "../../../../src/host/headless/run-facts.ts";

const BASE = { sessionId: "wf-run_1", sessionDir: "/s", extension: undefined, model: undefined };
const START = ["--mode", "rpc", "--session-id", "wf-run_1", "--session-dir", "/s"];
const model = (provider: string, name: string, ...args: readonly string[]) => ({
  provider,
  model: name,
  args,
});

describe("the command line of a headless Pi", () => {
  test("says nothing about trust", () => {
    expect(piArguments(BASE)).toEqual(START);
    expect(piArguments({ ...BASE, extension: "/package" })).toEqual([...START, "-e", "/package"]);
  });

  test.each([
    [model("", "fast"), ["--model", "fast"]],
    [model("mock", "fast"), ["--provider", "mock", "--model", "fast"]],
    // Pi takes a provider only beside a model.
    [model("mock", ""), ["--models", "mock/*"]],
    [model("", "", "--thinking", "high"), ["--thinking", "high"]],
    [model("", "fast", "--no-mcp"), ["--model", "fast", "--no-mcp"]],
  ])("%j is %j", (choice, args) => {
    expect(piArguments({ ...BASE, model: choice })).toEqual([...START, ...args]);
    expect(argumentProblem(choice)).toBeUndefined();
  });

  test.each([
    "--approve",
    "-a",
    "--mode",
    "--mode=text",
    "--session",
    "--session-id=x",
    "--no-session",
    "-p",
    "--no-extensions",
    "--",
    "@secrets.txt",
  ])("%s is refused", (arg) => {
    expect(argumentProblem(model("", "", arg))).toContain(arg.split("=")[0]);
  });

  test("two choices are the same when Pi would be started in the same way", () => {
    expect(modelKey(undefined)).toBe(modelKey(model("", "")));
    expect(modelKey(model("a", "b"))).toBe(modelKey(model("a", "b")));
    const others = [model("a", ""), model("", "a"), model("", "", "a"), model("a", "b", "c")];
    expect(new Set([undefined, ...others].map(modelKey)).size).toBe(5);
  });
});
