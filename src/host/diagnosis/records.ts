import type { AttemptStatus } from "../lifecycle/attempt.ts";
import type { ValueRef } from "../records.ts";
import { nodeOf } from "../operations/graph.ts";
import type { Reader } from "../store/tx.ts";
import type { Facts } from "./facts.ts";
import type { Contradiction } from "./finding.ts";
import { isTerminal } from "./ownership.ts";

/** Checks of a run's position and of what it refers to. */
export const POSITION: readonly ((facts: Facts) => readonly Contradiction[])[] = [
  nodeIsInGraph,
  attemptAtPosition,
  routingHasOutcome,
  eventsWithoutGaps,
];

/** Values and sources whose bytes are gone; their loss cannot be made good. */
export function missingBlobs(reader: Reader, facts: Facts): readonly Contradiction[] {
  const gone = digestsOf(facts).filter((digest) => !isThere(reader, digest));
  return [...new Set(gone)].map((digest) => ({
    invariant: "blob_is_there" as const,
    message: `the run refers to blob ${digest}, which is gone or damaged`,
  }));
}

function nodeIsInGraph({ run, graph }: Facts): readonly Contradiction[] {
  if (nodeOf(graph, run.node) !== undefined) return [];
  const message = `the run is at node ${run.node}, which its graph does not have`;
  return [{ invariant: "node_is_in_graph", message }];
}

function attemptAtPosition(facts: Facts): readonly Contradiction[] {
  const { run, open } = facts;
  if (open === undefined || isTerminal(facts)) return [];
  if (open.node === run.node && open.visit === run.visit) return [];
  const at = `${open.node} (visit ${open.visit})`;
  const message = `the open attempt is at ${at}, the run at ${run.node} (visit ${run.visit})`;
  return [{ invariant: "attempt_at_position", message }];
}

const OUTCOMES: ReadonlySet<AttemptStatus> = new Set(["ok", "failed", "timed_out"]);

function routingHasOutcome(facts: Facts): readonly Contradiction[] {
  const { run, newest } = facts;
  if (!run.routing || isTerminal(facts)) return [];
  const isHere = newest?.node === run.node && newest.visit === run.visit;
  if (isHere && OUTCOMES.has(newest.status)) return [];
  const message = `the run is to route from ${run.node}, which has no outcome`;
  return [{ invariant: "routing_has_outcome", message }];
}

function eventsWithoutGaps({ run, events }: Facts): readonly Contradiction[] {
  if (events.count === run.revision && events.last === run.revision) return [];
  const message = `revision ${run.revision}, but ${events.count} events up to ${events.last}`;
  return [{ invariant: "events_without_gaps", message }];
}

function digestsOf({ run, attempts, interactions, effects, ...facts }: Facts): readonly string[] {
  const values = [
    run.input,
    run.result,
    ...attempts.map((one) => one.output),
    ...interactions.flatMap((one) => [one.request, one.schema, one.contract, one.answer]),
    ...facts.submissions.map((one) => one.value),
    ...facts.messages.map((one) => one.text),
    ...effects.map((one) => one.receipt),
  ];
  return [...values.flatMap(digestOf), ...facts.sources.flatMap((source) => source.digest ?? [])];
}

function digestOf(value: ValueRef | undefined): readonly string[] {
  return value === undefined || "json" in value ? [] : [value.blob];
}

function isThere(reader: Reader, digest: string): boolean {
  try {
    return reader.values.bytes(digest) !== undefined;
  } catch {
    // The bytes are there and are not those that the digest names.
    return false;
  }
}
