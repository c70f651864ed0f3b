/** What models read about workflows: it must be true. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import releaseNotes from "../../../examples/release-notes.workflow.ts";
import { ACTIONS, PARAMETERS } from "../../../src/extension/tool/arguments.ts";
import * as authoring from "../../../src/workflow/index.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SKILL = readFileSync(join(ROOT, "skills/workflows/SKILL.md"), "utf8");
const EXAMPLE = readFileSync(join(ROOT, "examples/release-notes.workflow.ts"), "utf8");

const fenced = /```ts\n([\s\S]*?)```/.exec(SKILL)?.[1];

describe("the skill", () => {
  test("has a name and a description that Pi takes", () => {
    const [, head = ""] = /^---\n([\s\S]*?)\n---\n/.exec(SKILL) ?? [];
    const name = /^name: (.*)$/m.exec(head)?.[1] ?? "";
    const description = /^description: (.*)$/m.exec(head)?.[1] ?? "";
    expect(name).toBe("workflows");
    expect(description.length).toBeGreaterThan(40);
    expect(description.length).toBeLessThanOrEqual(1_024);
  });

  test("shows the very example that is checked and compiled", () => {
    expect(fenced).toBe(EXAMPLE);
  });

  test("names only actions and fields that the tool has, and every action", () => {
    const calls = [...SKILL.matchAll(/`(\{"action".*?\})`/g)].map(
      ([, call = ""]) =>
        // What the model fills in is written as a sign.
        JSON.parse(call.replaceAll("{…}", "{}").replace(/:…/g, ":0")) as {
          readonly [field: string]: unknown;
        },
    );
    expect(calls.length).toBeGreaterThan(5);
    for (const { action, ...fields } of calls) {
      expect(ACTIONS).toContain(action);
      for (const field of Object.keys(fields)) {
        expect(Object.keys(PARAMETERS.properties)).toContain(field);
      }
    }
    for (const action of ACTIONS) expect(SKILL).toContain(action);
  });

  test("names only what the authoring package exports", () => {
    const nodes = [...SKILL.matchAll(/^\| `(\w+)\(/gm)].map(([, name = ""]) => name);
    expect(nodes).toContain("humanDecision");
    for (const name of nodes) expect(Object.keys(authoring)).toContain(name);
  });
});

describe("its example", () => {
  test("compiles without a warning, with the kinds of nodes that it explains", () => {
    expect(releaseNotes.warnings).toEqual([]);
    const kinds = releaseNotes.graph.nodes.map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(
      new Set(["shell", "agent", "human_decision", "action", "notify", "compute"]),
    );
  });

  test("refuses a wrong input, and takes a right one", () => {
    expect(releaseNotes.input?.({ since: "v1" })).toEqual({ since: "v1" });
    expect(() => releaseNotes.input?.({})).toThrow("since");
    expect(() => releaseNotes.input?.({ since: "--output=x" })).toThrow("since");
  });
});
