/** Whether a run ended as it had to. */
import { existsSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { statusWord } from "../../src/cli/views/words.ts";
import { valueJson } from "../../src/client/json-value.ts";
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary, RunView } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { Ending, Plan } from "./kinds.ts";
import type { KnownRun } from "./ledger.ts";

/** What is wrong with the end of a run whose effect has happened so often, a line for each. */
export function problemsOf(run: KnownRun, view: RunView, effects: number): readonly string[] {
  const { summary } = view;
  if (summary === undefined) return ["has no summary"];
  return [
    ...endProblems(run, summary, view),
    ...repeats(view),
    ...effectProblems(run.plan, summary.status, effects),
  ];
}

function endProblems(
  { plan, cancelled }: KnownRun,
  summary: RunSummary,
  view: RunView,
): readonly string[] {
  const expected = cancelled ? RunStatus.CANCELLED : plan.ending.status;
  if (summary.status !== expected)
    return [`(${plan.kind}) ended as ${statusWord(summary)}: ${view.error?.message}`];
  return cancelled ? [] : differences(plan.ending, view);
}

/** Of a run that did not complete, nobody can say whether its effect has happened. */
function effectProblems(plan: Plan, status: RunStatus, effects: number): readonly string[] {
  if (plan.effectFile === undefined) return [];
  const isRight = status === RunStatus.COMPLETED ? effects === 1 : effects <= 1;
  return isRight ? [] : [`(${plan.kind}) has had its effect ${effects} times`];
}

function differences(ending: Ending, view: RunView): readonly string[] {
  const result = valueJson(view.result);
  if (ending.result !== undefined && !isDeepStrictEqual(result, ending.result))
    return [`has the result ${JSON.stringify(result)}`];
  if (ending.error === undefined) return [];
  const { name = "", message = "" } = view.error ?? {};
  const expected = { message, ...ending.error };
  const isRight = name === expected.name && message === expected.message;
  return isRight ? [] : [`has the error ${name}: "${message}"`];
}

/** Each visit of a node has at most one accepted output. */
function repeats({ attempts }: RunView): readonly string[] {
  const visits = attempts
    .filter(({ status }) => status === AttemptStatus.OK)
    .map(({ node, visit }) => `${node} ${visit}`);
  const twice = visits.filter((visit, index) => visits.indexOf(visit) !== index);
  return twice.map((visit) => `has done ${visit} twice`);
}

/** How often something has happened outside. */
export function linesIn(file: string | undefined): number {
  if (file === undefined || !existsSync(file)) return 0;
  return readFileSync(file, "utf8").split("\n").length - 1;
}
