import { describe, expect, test } from "vitest";
import {
  action,
  compute,
  defineWorkflow,
  isWorkflow,
  WorkflowDefinitionError,
} from "../../../src/workflow/index.ts";

const nodes = { a: compute({ run: () => 1 }) };

const broken = (): unknown => defineWorkflow({ name: "w", startAt: "x", maxSteps: -1, nodes });

describe("defineWorkflow", () => {
  test("returns the checked workflow with its graph and warnings", () => {
    const workflow = defineWorkflow({
      name: "w",
      title: "T",
      input: String,
      startAt: "a",
      nodes: { a: action({ run: () => 1 }) },
    });
    expect(isWorkflow(workflow)).toBe(true);
    expect(workflow.title).toBe("T");
    expect(workflow.input?.(5)).toBe("5");
    expect(workflow.graph.nodes).toHaveLength(1);
    expect(workflow.warnings).toHaveLength(1);
    expect(Object.isFrozen(workflow)).toBe(true);
  });

  test("throws one error that holds all problems", () => {
    expect(broken).toThrow(WorkflowDefinitionError);
    expect(broken).toThrow(
      [
        'workflow "w" cannot run:',
        "  maxSteps: must be a whole number from 1 to 1000000, not -1",
        '  startAt: there is no node "x"; the nodes are "a"',
      ].join("\n"),
    );
  });

  test.each([undefined, null, 5, "text"])("says so when it is given %j", (definition) => {
    expect(() => defineWorkflow(definition as never)).toThrow(
      "workflow without a name cannot run:\n  a workflow must be an object",
    );
  });

  test("recognises a workflow of another copy of the package, and nothing else", () => {
    expect(isWorkflow({ [Symbol.for("pi-workflows.workflow")]: 1 })).toBe(true);
    expect([undefined, null, 5, {}, nodes.a].map(isWorkflow)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
