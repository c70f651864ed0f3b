import { describe, expect, expectTypeOf, test } from "vitest";
import {
  action,
  checkpoint,
  compute,
  defineWorkflow,
  idempotentEffect,
  shell,
  wait,
} from "../../../src/workflow/index.ts";
import type { Context, ShellResult, Workflow } from "../../../src/workflow/index.ts";

interface Input {
  readonly tag: string;
}

function parseInput(value: unknown): Input {
  return { tag: String(value) };
}

// These definitions are compiled by `tsc`; the assertions at run time only show that
// they are also legal definitions.
describe("the types that an author meets", () => {
  test("infer the input from `input`, for the title and the workflow", () => {
    const workflow = defineWorkflow({
      name: "typed",
      input: parseInput,
      title: ({ input }) => `notes for ${input.tag}`,
      startAt: "only",
      nodes: { only: compute({ run: () => 1 }) },
    });
    expectTypeOf(workflow).toEqualTypeOf<Workflow<Input>>();
    expect(workflow.graph.startAt).toBe("only");
  });

  test("type the context of every node when input and outputs are stated", () => {
    const workflow = defineWorkflow<Input, { collect: { log: string }; approve: boolean }>({
      name: "typed",
      input: (value) => parseInput(value),
      startAt: "collect",
      nodes: {
        collect: shell({
          effect: idempotentEffect("git.log", { request: ({ input }) => input.tag }),
          timeoutMs: ({ input }) => input.tag.length,
          exec: ({ input, outputs }) => ({
            command: "git",
            args: [input.tag, outputs.collect.log],
          }),
          parse: (result) => {
            expectTypeOf(result).toEqualTypeOf<ShellResult>();
            return { log: result.stdout };
          },
        }),
        approve: checkpoint({
          summary: ({ input }) => input.tag,
          run: ({ outputs }) => outputs.collect,
        }),
        pause: wait({ forMs: ({ input }) => input.tag.length }),
        publish: action({
          effect: idempotentEffect("publish", {
            observe: (ctx) => ({ applied: true, output: ctx.effect.key }),
          }),
          run: async (ctx) => {
            expectTypeOf(ctx.outputs.approve).toEqualTypeOf<boolean>();
            ctx.publishUpdate(ctx.effect.key);
            return ctx.input.tag;
          },
        }),
      },
      edges: [
        { from: "collect", to: "approve" },
        { from: "approve", to: "pause" },
        { from: "pause", to: "publish" },
      ],
    });
    expect(workflow.warnings).toEqual([]);
  });

  test("accept a node that states a narrower context than the workflow gives", () => {
    const workflow: Workflow = defineWorkflow({
      name: "cast",
      startAt: "a",
      nodes: {
        a: compute({ run: (ctx: Context<Input, { a: number }>) => ctx.input.tag + ctx.outputs.a }),
        b: compute({
          run: ({ outputs }) => (outputs["a"] as string).length,
          timeoutMs: ({ input }: Context<Input>) => input.tag.length,
        }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    expect(workflow.name).toBe("cast");
  });

  test("let an action with `exec` be a shell node", () => {
    const node = action({ exec: () => ({ command: "true" }), parse: (result) => result.exitCode });
    expectTypeOf(node.kind).toEqualTypeOf<"shell">();
    expect(node.kind).toBe("shell");
  });

  test("refuse a target that is no text and a node of no kind", () => {
    const definition = { name: "x", startAt: "a", nodes: { a: {} } };
    // @ts-expect-error a node must be made by a builder
    expect(() => defineWorkflow(definition)).toThrow("nodes.a");
  });
});
