import type { AttemptRecord, GraphRecord } from "../records.ts";
import { nodeOf, targetsFrom } from "./graph.ts";
import type { Step } from "./step.ts";

/**
 * What of a run's committed past does not fit another graph, in words. Every
 * node it has visited, and the one it is at, must still exist with its kind, and
 * every edge it has taken must still lead there. What lies ahead may change
 * freely. Empty for a run that has visited nothing yet.
 */
export function misfits({ tx, run }: Step, graph: GraphRecord): readonly string[] {
  const newest = tx.attempts.newest(run.runId);
  if (newest === undefined) return [];
  const visits = visitsOf(tx.attempts.lastOfRun(run.runId, newest.ordinal));
  const last = visits.at(-1);
  // A run that was paused at a boundary stands before a visit without an attempt.
  if (last?.node !== run.node || last.visit !== run.visit) visits.push(run);
  return [
    ...startMisfit(visits, graph),
    ...nodeMisfits(visits, { before: tx.runs.graph(run.runId), after: graph }),
    ...edgeMisfits(visits, graph),
  ];
}

interface Visit {
  readonly node: string;
  readonly visit: number;
}

/** The visits of a run in order; an attempt that repeats its visit adds none. */
function visitsOf(attempts: readonly AttemptRecord[]): Visit[] {
  return attempts.filter((attempt, index) => {
    const before = attempts[index - 1];
    return before?.node !== attempt.node || before.visit !== attempt.visit;
  });
}

function startMisfit([first]: readonly Visit[], graph: GraphRecord): string[] {
  if (first === undefined || first.node === graph.startAt) return [];
  return [`the run began at ${first.node}, the workflow now begins at ${graph.startAt}`];
}

function nodeMisfits(
  visits: readonly Visit[],
  { before, after }: { readonly before: GraphRecord; readonly after: GraphRecord },
): string[] {
  const paths = [...new Set(visits.map((visit) => visit.node))];
  return paths.flatMap((path) => {
    const was = nodeOf(before, path)?.kind;
    const is = nodeOf(after, path)?.kind;
    if (is === undefined) return [`node ${path} is gone`];
    return was === is ? [] : [`node ${path} was a ${was} node and is a ${is} node`];
  });
}

function edgeMisfits(visits: readonly Visit[], graph: GraphRecord): string[] {
  const gone = visits.flatMap(({ node: to }, index) => {
    const from = visits[index - 1]?.node;
    if (from === undefined || targetsFrom(graph, from).includes(to)) return [];
    return [`no edge leads from ${from} to ${to}`];
  });
  return [...new Set(gone)];
}
