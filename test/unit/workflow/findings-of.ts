import { compile } from "../../../src/workflow/compile.ts";
import { formatProblem } from "../../../src/workflow/errors.ts";
import { compute } from "../../../src/workflow/nodes.ts";

/** The body of every node whose body does not matter. */
export const run = (): number => 1;

export const legal = { name: "legal", startAt: "a", nodes: { a: compute({ run }) } };

/** All problems of a definition whose fields are given over a legal one. */
export function problems(overrides: object): string[] {
  return compile({ ...legal, ...overrides }).problems.map(formatProblem);
}

export function warnings(overrides: object): string[] {
  return compile({ ...legal, ...overrides }).warnings.map(formatProblem);
}

/** Problems of one node `a`, made of any options, whatever its types say. */
export function nodeProblems(builder: (options: never) => unknown, options: object): string[] {
  return problems({ nodes: { a: builder(options as never) } });
}
