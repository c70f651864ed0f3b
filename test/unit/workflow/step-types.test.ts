import { describe, expect, expectTypeOf, test } from "vitest";
import {
  agent,
  assistantMessage,
  choice,
  compute,
  decision,
  decisionEdge,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  notify,
  textInput,
} from "../../../src/workflow/index.ts";
import type {
  AgentNode,
  Context,
  HumanAnswer,
  StandardSchema,
  UnknownOutputs,
} from "../../../src/workflow/index.ts";

const routes = ["fix", "ship"] as const;
const meanings = { fix: "repair it first", ship: "it is good" };
const choices = defineHumanChoices({
  yes: choice({ label: "Yes" }),
  no: choice({ label: "No", input: textInput({ name: "reason", prompt: "Why?" }) }),
});

// These are compiled by `tsc`: a line that is refused must stay refused.
describe("an edge from a decision", () => {
  test("has a case for each choice, or a default does not help", () => {
    const all = { fix: "a", ship: "b" };
    expect(decisionEdge({ from: "d", choices: routes, cases: all })).toEqual({
      from: "d",
      switch: { on: "$.route", cases: all },
    });
    decisionEdge({ from: "d", choices: meanings, cases: all, field: "verdict", default: "c" });
    // @ts-expect-error ship has no case
    decisionEdge({ from: "d", choices: routes, cases: { fix: "a" } });
    // @ts-expect-error ship has no case
    decisionEdge({ from: "d", choices: meanings, cases: { fix: "a" } });
    // @ts-expect-error shp is no choice
    decisionEdge({ from: "d", choices: routes, cases: { fix: "a", ship: "b", shp: "c" } });
    decisionEdge({ from: "d", choices: ["fix", "ship"], cases: all });
    // @ts-expect-error ship has no case, and the choices are written where they are used
    decisionEdge({ from: "d", choices: ["fix", "ship"], cases: { fix: "a" } });
    decisionEdge<"fix">({ from: "d", cases: { fix: "a" } });
    decisionEdge({ from: "d", cases: { any: "a" } });
    // @ts-expect-error a case leads to a node
    decisionEdge({ from: "d", choices: routes, cases: { fix: "a", ship: 5 } });
  });

  test("of a person has a case for each choice", () => {
    const all = { yes: "a", no: "b" };
    expect(humanDecisionEdge({ from: "d", choices, cases: all })).toEqual({
      from: "d",
      switch: { on: "$.choice", cases: all },
    });
    // @ts-expect-error no has no case
    humanDecisionEdge({ from: "d", choices, cases: { yes: "a" } });
    // @ts-expect-error maybe is no choice
    humanDecisionEdge({ from: "d", choices, cases: { yes: "a", no: "b", maybe: "c" } });
    humanDecisionEdge({ from: "d", cases: { any: "a" } });
  });
});

describe("the types of a decision of a person", () => {
  test("say what an answer holds", () => {
    expectTypeOf<HumanAnswer<typeof choices>>().toEqualTypeOf<
      { readonly choice: "yes" } | ({ readonly choice: "no" } & Readonly<Record<"reason", string>>)
    >();
  });

  test("bind the default answer to the choices", () => {
    const base = { audience: "x", choices, request: () => ({ title: "?", subject: 1 }) };
    humanDecision({ ...base, onTimeout: { afterMs: 5, response: { choice: "yes" } } });
    humanDecision({ ...base, onTimeout: { afterMs: () => 5, response: () => "yes" } });
    humanDecision({
      ...base,
      onTimeout: { afterMs: 5, response: { choice: "no", reason: "nobody said" } },
    });
    // @ts-expect-error no asks for a reason
    humanDecision({ ...base, onTimeout: { afterMs: 5, response: { choice: "no" } } });
    // @ts-expect-error maybe is no choice
    humanDecision({ ...base, onTimeout: { afterMs: 5, response: { choice: "maybe" } } });
    // @ts-expect-error a person is asked once
    humanDecision({ ...base, retry: { maxAttempts: 2 } });
    // @ts-expect-error a title is needed
    const node = humanDecision({ ...base, request: () => ({ subject: 1 }) });
    expect(node.kind).toBe("human_decision");
  });
});

interface Notes {
  readonly notes: string;
}

const notesSchema: StandardSchema<Notes> = {
  "~standard": { version: 1, vendor: "test", validate: () => ({ value: { notes: "" } }) },
};

describe("the types of a step for a model", () => {
  test("are those of what it returns", () => {
    const made = agent({ prompt: "x", validate: (value) => ({ notes: String(value) }) });
    expectTypeOf(made).toEqualTypeOf<AgentNode<unknown, UnknownOutputs, { notes: string }>>();
    const later = agent({ prompt: "x", validate: async () => 5 });
    expectTypeOf(later).toEqualTypeOf<AgentNode<unknown, UnknownOutputs, number>>();
    const said = agent({ prompt: "x", expectedOutput: assistantMessage() });
    expectTypeOf(said).toEqualTypeOf<AgentNode<unknown, UnknownOutputs, string>>();
    const fitting = agent({ prompt: "x", schema: notesSchema });
    expectTypeOf(fitting).toEqualTypeOf<AgentNode<unknown, UnknownOutputs, Notes>>();
    expect(fitting.schema).toBe(notesSchema);
    // @ts-expect-error a reply is not validated
    agent({ prompt: "x", expectedOutput: assistantMessage(), validate: () => 5 });
    // @ts-expect-error a prompt is needed
    agent({ expectedOutput: "x" });
  });

  test("let `validate` name the shape it looks for", () => {
    const node = agent({ prompt: "x", validate: (value: Partial<Notes>) => value.notes ?? "" });
    expectTypeOf(node).toEqualTypeOf<AgentNode<unknown, UnknownOutputs, string>>();
    expect(node.kind).toBe("agent");
  });

  test("fit into a workflow that states its input and outputs", () => {
    interface Input {
      readonly tag: string;
    }
    interface Outputs {
      readonly draft: Notes;
      readonly judge: { readonly route: "fix" | "ship" };
      readonly approve: HumanAnswer<typeof choices>;
    }
    const workflow = defineWorkflow<Input, Outputs>({
      name: "typed",
      startAt: "draft",
      result: "card",
      nodes: {
        draft: agent({
          prompt: ({ input }) => input.tag,
          allowedTools: ({ outputs }) => [outputs.draft.notes],
          validate: (value, ctx) => {
            expectTypeOf(ctx).toEqualTypeOf<Context<Input, Outputs>>();
            return value;
          },
        }),
        judge: decision({ question: ({ outputs }) => outputs.draft.notes, choices: routes }),
        approve: humanDecision({
          audience: "operator",
          choices,
          request: ({ input, outputs }) => ({ title: input.tag, subject: outputs.draft }),
          onTimeout: { afterMs: ({ input }) => input.tag.length, response: "yes" },
        }),
        tell: notify({
          message: async ({ outputs }) =>
            outputs.approve.choice === "no" ? outputs.approve.reason : outputs.judge.route,
        }),
        end: compute({ run: () => 1 }),
      },
      edges: [
        { from: "draft", to: "judge" },
        decisionEdge({ from: "judge", choices: routes, cases: { fix: "draft", ship: "approve" } }),
        humanDecisionEdge({ from: "approve", choices, cases: { yes: "tell", no: "end" } }),
      ],
    });
    expect(workflow.graph.result).toBe("card");
  });
});
