import { describe, expect, test } from "vitest";
import { backOffMs } from "../../../src/extension/back-off.ts";
import { factsOf, secretFor, sharedState } from "../../../src/extension/shared-state.ts";
import { takeSessionSecret } from "../../../src/platform/session-secret.ts";
import { nodeProgram } from "../../../src/platform/node-program.ts";

test("pauses between attempts double, are spread, and stay below fifteen seconds", () => {
  expect([1, 2, 3, 4].map((failures) => backOffMs(failures, 0.5))).toEqual([
    250, 500, 1_000, 2_000,
  ]);
  expect(backOffMs(0, 0.5)).toBe(250);
  expect(backOffMs(1, 0)).toBe(125);
  expect(backOffMs(100, 0.999)).toBeLessThanOrEqual(15_000);
});

describe("what outlives a session", () => {
  test("is one state for everybody in the process", () => {
    const place = {};
    sharedState(place).secret = "s";
    expect(sharedState(place).secret).toBe("s");
  });

  test("keeps a list of facts for each session", () => {
    const state = sharedState({});
    expect(factsOf(state, "one")).toBe(factsOf(state, "one"));
    expect(factsOf(state, "one")).not.toBe(factsOf(state, "two"));
  });

  test("gives the secret to the first session alone", () => {
    const state = sharedState({});
    state.secret = "s";
    expect(secretFor(state, "one")).toBe("s");
    expect(secretFor(state, "two")).toBe("");
    expect(secretFor(state, "one")).toBe("s");
  });
});

test("the secret of a headless Pi is gone from the environment once it is read", () => {
  const env: NodeJS.ProcessEnv = { PI_WORKFLOWS_SESSION_SECRET: "s", OTHER: "o" };
  expect(takeSessionSecret(env)).toBe("s");
  expect(env).toEqual({ OTHER: "o" });
  expect(takeSessionSecret(env)).toBe("");
});

describe("the Node.js of a host", () => {
  test("is the program that runs, where that is Node.js", () => {
    expect(nodeProgram()).toEqual({ program: process.execPath });
  });

  test("is looked for where Pi is a program of its own", () => {
    const folder = process.execPath.slice(0, process.execPath.lastIndexOf("/"));
    const facts = { execPath: "/usr/bin/pi", isNode: false, path: `/nowhere::${folder}` };
    expect(nodeProgram(facts).program).toBe(`${folder}/node`);
  });

  test("is asked for in words where there is none", () => {
    const found = nodeProgram({ execPath: "/usr/bin/pi", isNode: false, path: "/nowhere" });
    expect(found.program).toBeUndefined();
    expect(found).toMatchObject({ problem: expect.stringContaining("Node.js 22.19") as string });
  });
});
