import type { MessageInitShape } from "@bufbuild/protobuf";
import { ActivationKind } from "../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { Begin, Bootstrap } from "../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { SourceSchema } from "../gen/piworkflows/common/v1/source_pb.ts";
import type { Clock } from "../platform/clock.ts";
import type { Gathering } from "./activation.ts";
import { evaluateTimeout, hostLimit } from "./engine/attempt.ts";
import type { Engine, Position, Timeout } from "./engine/attempt.ts";
import { drive, SourceChangedInRun } from "./engine/drive.ts";
import { verifySources } from "./definition/load.ts";
import { recordedSource } from "./from-wire.ts";
import type { HostStream } from "./host-link.ts";
import { wireSource } from "./to-wire.ts";
import { createRunLink } from "./wire-run-link.ts";
import { requireSound, requireUnchanged, sourceChanged } from "./workshop.ts";
import type { Workshop } from "./workshop.ts";

/** Where the activation's workflow is loaded. */
export type LoadedWorkshop = Pick<Workshop, "load" | "keep" | "holds" | "takeNewSources">;

export interface ActiveRunOptions {
  readonly clock: Clock;
  readonly stream: HostStream;
  readonly workshop: LoadedWorkshop;
  readonly stop: AbortSignal;
}

/** Route-only activations: the attempt was closed outside a worker. */
const ROUTE_ONLY: ReadonlySet<ActivationKind> = new Set([
  ActivationKind.ANSWERED,
  ActivationKind.EXPIRED,
  ActivationKind.VERDICT,
]);

/**
 * Serves one activation: verifies the sources, loads them, tells the host that it
 * can begin, and drives the run until it is parked, stopped or ended.
 */
export async function serveActivation(
  options: ActiveRunOptions,
  gathering: Gathering,
): Promise<void> {
  const { bootstrap } = gathering;
  const { stream } = options;
  const newSources = unrecorded(options.workshop, bootstrap);
  const engine = await prepare(options, gathering, newSources);
  const { node, visit } = bootstrap;
  const timeout = evaluateTimeout(engine, { node, visit, attempt: 1 });
  const begin =
    bootstrap.begin ?? (await askToBegin(stream, bootstrap, { timeout, newSources: newSources() }));
  if (begin === undefined) return;
  const at = positionOf(bootstrap, begin);
  const routeOnly = ROUTE_ONLY.has(begin.kind);
  const submission = submissionOf(gathering, begin);
  try {
    await drive(engine, { at, routeOnly, timeout, ...submission });
  } catch (thrown) {
    if (!(thrown instanceof SourceChangedInRun)) throw thrown;
    throw sourceChanged(await verifySources(bootstrap.sources.map(recordedSource)));
  }
}

function submissionOf(gathering: Gathering, begin: Begin): { readonly submissionJson?: string } {
  if (begin.kind !== ActivationKind.VALIDATE) return {};
  const submissionJson = gathering.submissionJson();
  if (submissionJson === undefined) throw new Error("the host sent no submission to validate");
  return { submissionJson };
}

/** Says that the run can begin; absent when there is nothing to do for this worker. */
async function askToBegin(
  stream: HostStream,
  { boundary }: Bootstrap,
  { timeout, newSources }: Readiness,
): Promise<Begin | undefined> {
  const { timeoutMs } = hostLimit(timeout);
  const limit = timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) };
  const value = { newSources, ...limit };
  const answer = await stream.ask({ case: "ready", value }, { boundary: Number(boundary) });
  return answer.case === "begin" ? answer.value : undefined;
}

interface Readiness {
  readonly timeout: Timeout;
  readonly newSources: MessageInitShape<typeof SourceSchema>[];
}

async function prepare(
  { clock, stream, workshop, stop }: ActiveRunOptions,
  gathering: Gathering,
  takeNewSources: () => MessageInitShape<typeof SourceSchema>[],
): Promise<Engine> {
  const { bootstrap } = gathering;
  const sources = bootstrap.sources.map(recordedSource);
  const bytes = bootstrap.useRecorded ? { bytes: gathering.recordedBytes() } : {};
  const isTrusted = bootstrap.useRecorded || bootstrap.justResolved || workshop.holds(sources);
  if (!isTrusted) await requireUnchanged(sources);
  const recorded = { sources, ...bytes };
  const { workflow, graph } = requireSound(
    bootstrap.justResolved
      ? await workshop.keep(bootstrap, recorded)
      : await workshop.load(bootstrap, recorded),
  );
  return {
    graph,
    nodes: workflow.nodes,
    state: gathering.runState(),
    link: createRunLink({ stream, clock, takeNewSources }),
    clock,
    stop,
  };
}

/** Sources that were loaded since the last boundary and that the host does not know. */
function unrecorded(
  workshop: LoadedWorkshop,
  bootstrap: Bootstrap,
): () => MessageInitShape<typeof SourceSchema>[] {
  const known = new Set(bootstrap.sources.map(({ path }) => path));
  return () =>
    workshop.takeNewSources(known).map((source) => {
      known.add(source.path);
      return wireSource(source);
    });
}

function positionOf(bootstrap: Bootstrap, begin: Begin): Position {
  return {
    node: bootstrap.node,
    visit: bootstrap.visit,
    attemptId: begin.attemptId,
    attempt: begin.attempt,
    boundary: Number(begin.boundary),
    failures: begin.countedAttempts,
    steps: bootstrap.steps,
  };
}
