import { describe, expect, test } from "vitest";
import { compile } from "../../../src/workflow/compile.ts";
import {
  choice,
  compute,
  decision,
  decisionEdge,
  defineHumanChoices,
  humanDecision,
  humanDecisionEdge,
  textInput,
} from "../../../src/workflow/index.ts";
import { nodeProblems, problems, run, warnings } from "./findings-of.ts";

const yes = choice({ label: "Yes" });
const request = (): object => ({ title: "?", subject: 1 });

describe("a decision of a person", () => {
  test.each<[object]>([
    [{ audience: "operator", choices: { yes }, request }],
    [
      {
        audience: "operator",
        choices: { yes },
        request,
        onTimeout: { afterMs: 5, response: "yes" },
      },
    ],
    [
      {
        audience: "operator",
        choices: { yes },
        request,
        onTimeout: { afterMs: run, response: () => ({ choice: "later" }) },
      },
    ],
    [
      {
        audience: "operator",
        choices: { no: choice({ label: "No", input: textInput({ name: "why", prompt: "Why?" }) }) },
        request,
        onTimeout: { afterMs: 5, response: { choice: "no", why: "" } },
      },
    ],
  ])("may be stated (%#)", (options) => {
    expect(nodeProblems(humanDecision, options)).toEqual([]);
  });

  test("is refused for everything at once", () => {
    const choices = {
      yes,
      Yes: {},
      prototype: yes,
      why: choice({
        label: "Why",
        input: { name: "choice", prompt: "", minLength: 5, maxLength: 4 },
      }),
      odd: 5,
    };
    const options = {
      audience: "",
      choices,
      retry: { maxAttempts: 2 },
      onTimeout: { afterMs: 0, response: { choice: "yess" } },
    };
    expect(nodeProblems(humanDecision, options)).toEqual([
      "nodes.a.audience: must not be empty",
      "nodes.a.request: must be a function, not undefined",
      "nodes.a.retry: is refused on a human decision: a person is asked once",
      'nodes.a.choices.Yes: cannot be told from "yes"',
      "nodes.a.choices.Yes.label: must be a text, not undefined",
      "nodes.a.choices.prototype: is a reserved name",
      'nodes.a.choices.why.input.name: must not be "choice", which holds the choice itself',
      "nodes.a.choices.why.input.prompt: must not be empty",
      "nodes.a.choices.why.input.maxLength: must not be less than minLength (5)",
      "nodes.a.choices.odd: must be made by choice(), not 5",
      "nodes.a.onTimeout.afterMs: must be more than 0 ms, not 0",
      'nodes.a.onTimeout.response: must be one of "yes", "Yes", "prototype", "why", "odd", not "yess"; did you mean "yes"?',
    ]);
  });

  test.each<[unknown, string]>([
    [undefined, "must be made by defineHumanChoices(), not undefined"],
    [["yes"], "must be made by defineHumanChoices(), not an array"],
    [{}, "must hold a choice"],
    [
      Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`c${at}`, yes])),
      "must hold at most 100 choices, not 101",
    ],
  ])("is refused for its choices %j", (choices, message) => {
    expect(nodeProblems(humanDecision, { audience: "x", request, choices })).toEqual([
      `nodes.a.choices: ${message}`,
    ]);
  });

  const note = choice({
    label: "Say",
    input: textInput({ name: "text", prompt: "?", minLength: 2, maxLength: 3 }),
  });
  test.each<[unknown, string]>([
    ["say", '"say" asks for text, which must be a text, not undefined'],
    [{ choice: "say", text: "x" }, '"say" asks for text, which must have at least 2 characters'],
    [{ choice: "say", text: "wxyz" }, '"say" asks for text, which must have at most 3 characters'],
    [{ choice: "yes", text: "xy" }, 'holds "text", which the choice does not ask for'],
    [{}, 'must be one of "yes", "say", not undefined'],
    [5, "must be { choice, … }, not 5"],
  ])("is refused for the default answer %j", (response, message) => {
    const options = { audience: "x", request, choices: { yes, say: note } };
    const found = nodeProblems(humanDecision, { ...options, onTimeout: { afterMs: 5, response } });
    expect(found).toEqual([`nodes.a.onTimeout.response: ${message}`]);
  });

  test("counts the characters of a text as a person does", () => {
    const options = { audience: "x", request, choices: { say: note } };
    const onTimeout = { afterMs: 5, response: { choice: "say", text: "👩👩👩" } };
    expect(nodeProblems(humanDecision, { ...options, onTimeout })).toEqual([]);
  });

  test("is warned of what older files hold", () => {
    const options = { audience: "x", request, choices: { yes }, presentationPrompt: "…" } as never;
    expect(warnings({ nodes: { a: humanDecision(options) } })).toEqual([
      expect.stringMatching(
        /^nodes\.a\.presentationPrompt: unknown field, which is ignored; .*request/,
      ),
    ]);
  });
});

describe("the way on from a choice", () => {
  const ends = { x: compute({ run }), y: compute({ run }) };
  const asked = decision({ question: "?", choices: ["one", "two"] });
  const judged = decision({ question: "?", choices: { one: "1", two: "2" }, field: "verdict" });
  const decided = humanDecision({
    audience: "x",
    request: () => ({ title: "?", subject: 1 }),
    choices: defineHumanChoices({ one: yes, two: yes }),
  });

  test("is by the field that holds it", () => {
    const nodes = { a: judged, b: asked, c: decided, ...ends };
    const { graph } = compile({
      name: "w",
      startAt: "a",
      nodes,
      edges: [
        decisionEdge({ from: "a", cases: { one: "b", two: "x" }, field: "verdict" }),
        decisionEdge({ from: "b", choices: ["one", "two"], cases: { one: "c", two: "x" } }),
        humanDecisionEdge({ from: "c", cases: { one: "y" }, default: "x" }),
      ],
    });
    expect(graph?.edges).toEqual([
      {
        from: "a",
        on: "$.verdict",
        cases: [
          { value: "one", to: "b" },
          { value: "two", to: "x" },
        ],
      },
      {
        from: "b",
        on: "$.route",
        cases: [
          { value: "one", to: "c" },
          { value: "two", to: "x" },
        ],
      },
      { from: "c", on: "$.choice", cases: [{ value: "one", to: "y" }], default: "x" },
    ]);
  });

  test.each<[string, unknown, object, string[]]>([
    [
      "one is left out",
      asked,
      { on: "$.route", cases: { one: "x" } },
      ['cases: has no case for "two"'],
    ],
    [
      "one is left out of what a person may say",
      decided,
      { on: "$output.choice", cases: { two: "x" } },
      ['cases: has no case for "one"'],
    ],
    [
      "one is misspelt",
      decision({ question: "?", choices: ["one", "three"] }),
      { on: "$.route", cases: { one: "x", thre: "y", six: "y" } },
      [
        'cases.thre: is no choice; the nearest is "three"',
        'cases.six: is no choice; those are "one", "three"',
        'cases: has no case for "three"',
      ],
    ],
    [
      "it looks where the choice is not",
      judged,
      { on: "$.route", cases: { one: "x", two: "y" } },
      ['on: the choice is in "verdict", so this must be $.verdict'],
    ],
    ["it routes by something else", asked, { on: "$.reason", cases: { z: "x" } }, []],
    ["it routes by the outcome", asked, { on: "$result.outcome", cases: { ok: "x" } }, []],
  ])("is checked: %s", (_name, node, choice_, found) => {
    const edges = [
      { from: "a", switch: choice_ },
      { from: "x", to: "y" },
    ];
    const nodes = { a: node, ...ends };
    expect(problems({ nodes, edges })).toEqual(found.map((line) => `edges[0].switch.${line}`));
  });
});
