import { HostError } from "../errors.ts";
import { runLifecycle } from "../lifecycle/run.ts";
import type { GraphRecord, SourceWithContent } from "../records.ts";
import { misfits } from "./accept-source.ts";
import { holdingEffects } from "./effect-rows.ts";
import { graphDigest } from "./graph.ts";
import { askInSession } from "./session-messages.ts";
import { settleIfDue } from "./settle.ts";
import { changeRun, storeSources } from "./step.ts";
import type { Step } from "./step.ts";

/** The workflow as it is on disk now. */
export interface AcceptedSource {
  readonly graph: GraphRecord;
  readonly sources: readonly SourceWithContent[];
  readonly title: string;
}

export interface ResumeRequest {
  /** `unchanged`: the files must be the recorded ones; `recorded`: run the stored bytes. */
  readonly sourcePolicy: "unchanged" | "recorded" | "accept";
  /** With `accept`: what the run goes on with. */
  readonly accepted?: AcceptedSource;
}

/**
 * See resumeRun. What became due meanwhile is settled in the same transaction;
 * an effect that a person must settle comes first.
 */
export function resume(step: Step, request: ResumeRequest): void {
  if (step.run.pauseRequested) {
    revokePause(step);
    return;
  }
  const { tx, run, at } = step;
  const { runId } = run;
  if (run.status === "running") {
    const message = `run ${runId} is running and no pause of it is requested`;
    throw new HostError("ILLEGAL_TRANSITION", message, { runId, state: run.status });
  }
  const isParked = (tx.interactions.open(runId) ?? tx.timers.open(runId)) !== undefined;
  const status = runLifecycle.next(run.status, "resume", isParked ? "waiting" : "queued");
  requireSettledEffects(step);
  const resumed = changeRun(takeSources(step, request), {
    event: "resume",
    change: {
      status,
      blockReason: undefined,
      detail: undefined,
      changedFiles: undefined,
      noProgress: 0,
      availableAt: Math.max(at, run.availableAt),
    },
    data: { from: run.status, sourcePolicy: request.sourcePolicy },
  });
  if (isParked && !settleIfDue(resumed)) askAgain(resumed);
}

/**
 * What is open still is shown again. A decision's card that was seen stays: a
 * person looks at it, and no turn of a model has ended since.
 */
function askAgain(step: Step): void {
  const interaction = step.tx.interactions.open(step.run.runId);
  if (interaction === undefined) return;
  const { interactionId, kind } = interaction;
  const newest = step.tx.messages.newestOfInteraction(interactionId);
  if (kind === "human_decision" && newest?.status === "delivered") return;
  // A person looked at it, so the losses before count no more.
  step.tx.put.interactionChange(interactionId, { lostTurns: 0 });
  const reason = newest === undefined ? "first" : "resumed";
  askInSession(step, { ...interaction, lostTurns: 0 }, { reason });
}

function revokePause(step: Step): void {
  changeRun(step, {
    event: "resume",
    change: { status: runLifecycle.next(step.run.status, "resume"), pauseRequested: false },
    data: { from: "running" },
  });
}

function requireSettledEffects({ tx, run }: Step): void {
  const names = holdingEffects(tx, run.runId).map((effect) => effect.effectId);
  if (names.length === 0) return;
  const message = `nobody knows whether ${names.join(", ")} happened; resolve it before the run`;
  throw new HostError("EFFECT_AMBIGUOUS", message, { runId: run.runId, names, state: run.status });
}

function takeSources(step: Step, { sourcePolicy, accepted }: ResumeRequest): Step {
  if (sourcePolicy === "accept") return acceptSources(step, accepted);
  if (sourcePolicy === "unchanged" || step.run.useRecorded) return step;
  return changeRun(step, { event: "sources_recorded", change: { useRecorded: true } });
}

/** The run goes on with other files, if what it has committed still fits them. */
function acceptSources(step: Step, accepted: AcceptedSource | undefined): Step {
  const { tx, run } = step;
  if (accepted === undefined) {
    throw new HostError("REQUEST_INVALID", "there is no workflow to accept", { runId: run.runId });
  }
  const { graph, sources, title } = accepted;
  const names = misfits(step, graph);
  if (names.length > 0) {
    const message = `run ${run.runId} does not fit the changed workflow: ${names.join("; ")}`;
    throw new HostError("SOURCE_CHANGED", message, { runId: run.runId, names });
  }
  const digest = graphDigest(graph);
  const hasBegun = tx.attempts.newest(run.runId) !== undefined;
  tx.put.graph(run.runId, graph, digest);
  tx.put.dropSources(run.runId);
  storeSources(step, sources);
  return changeRun(step, {
    event: "sources_accepted",
    change: {
      graphDigest: digest,
      useRecorded: false,
      workflow: graph.name,
      title: title === "" ? graph.name : title,
      // Nothing is committed yet, so the start may be another.
      ...(hasBegun ? {} : { node: graph.startAt }),
    },
    data: { files: sources.length },
  });
}
