/** What the rows say about a headless run, as far as its Pi is concerned. */
import { contractOf } from "../operations/contract-of.ts";
import { headlessSession } from "../operations/headless-session.ts";
import type { Instant, RunRecord } from "../records.ts";
import type { InteractionKind, InteractionRecord, ModelRecord } from "../records-sessions.ts";
import type { Reader } from "../store/tx.ts";

/**
 * - `asks`: one of its steps waits for a model.
 * - `moves`: it has or will have a worker, also one that checks a submission.
 * - `rests`: it waits for something else.
 * - `over`: nothing is wanted of a model until a person acts, or ever.
 * - `gone`: cancelled or deleted; whatever still happens for it is too much.
 */
export type Standing = "asks" | "moves" | "rests" | "over" | "gone";

/** A step that waits for a model. */
export interface Ask {
  readonly interactionId: string;
  /** Order of creation among all messages. */
  readonly position: number;
  /** Not before: the provider is waited for, or a back-off goes on. */
  readonly dueAt: Instant;
  readonly model: ModelRecord | undefined;
}

export interface RunFacts {
  readonly runId: string;
  readonly standing: Standing;
  readonly ask: Ask | undefined;
  /** A model turn of the run goes on, as far as the host knows. */
  readonly turnOpen: boolean;
}

const FOR_MODELS: ReadonlySet<InteractionKind> = new Set(["agent", "reply"]);

/** Absent for a run that is no headless one. */
export function factsOf(reader: Reader, runId: string): RunFacts | undefined {
  const run = reader.runs.get(runId);
  if (run === undefined) return { runId, standing: "gone", ask: undefined, turnOpen: false };
  if (run.mode !== "headless") return undefined;
  const ask = run.status === "waiting" ? askOf(reader, run) : undefined;
  const standing = ask === undefined ? STANDINGS[run.status] : "asks";
  return { runId, standing, ask, turnOpen: reader.turns.openOfRun(runId).length > 0 };
}

/** Two choices of a model are the same when Pi would be started in the same way. */
export function modelKey(model: ModelRecord | undefined): string {
  if (model === undefined) return "";
  const { provider, model: name, args } = model;
  return provider === "" && name === "" && args.length === 0
    ? ""
    : JSON.stringify([provider, name, ...args]);
}

const STANDINGS: Readonly<Record<RunRecord["status"], Standing>> = {
  queued: "moves",
  starting: "moves",
  running: "moves",
  waiting: "rests",
  paused: "over",
  blocked: "over",
  completed: "over",
  failed: "over",
  timed_out: "over",
  cancelled: "gone",
};

function askOf(reader: Reader, run: RunRecord): Ask | undefined {
  const interaction = reader.interactions.open(run.runId);
  if (interaction?.status !== "pending" || !FOR_MODELS.has(interaction.kind)) return undefined;
  const message = reader.messages.newestOfInteraction(interaction.interactionId);
  if (message === undefined) return undefined;
  const { heldUntil = 0 } = reader.sessions.get(headlessSession(run.runId)) ?? {};
  return {
    interactionId: interaction.interactionId,
    position: message.position,
    dueAt: Math.max(message.availableAt ?? 0, heldUntil),
    model: modelOf(reader, run, interaction),
  };
}

/** The step's own choice goes before the run's. */
function modelOf(
  reader: Reader,
  run: RunRecord,
  interaction: InteractionRecord,
): ModelRecord | undefined {
  try {
    return contractOf(reader, interaction).model ?? run.model;
  } catch {
    // A damaged value, which the diagnosis tells of; nobody's step may end the host.
    return run.model;
  }
}
