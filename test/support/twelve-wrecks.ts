/** Contradictions that a host which is told nothing leaves as they are: none of their runs is due for anything. */
import { arrange, cancel, pause } from "./scenes.ts";
import { askingModel } from "./session-scenes.ts";
import type { TestRig } from "./test-host.ts";
import { next } from "./test-worker.ts";

export interface RestingWreck {
  readonly arrange: (rig: TestRig) => Promise<string>;
  /** What is done to the rows. */
  readonly sql: readonly string[];
  /** Names of the contradictions that the rows prove what to do about. */
  readonly mended: readonly string[];
  /** Names of those that need a person. */
  readonly remaining: readonly string[];
}

const proven = (
  scene: RestingWreck["arrange"],
  sql: readonly string[],
  mended: readonly string[],
): RestingWreck => ({ arrange: scene, sql, mended, remaining: [] });

const unproven = (
  scene: RestingWreck["arrange"],
  sql: readonly string[],
  remaining: readonly string[],
): RestingWreck => ({ arrange: scene, sql, mended: [], remaining });

const at = (scene: string) => (rig: TestRig) => arrange(rig, scene);

async function pausedAfter(rig: TestRig, scene: string): Promise<string> {
  const runId = await arrange(rig, scene);
  await pause(rig, runId);
  return runId;
}

export const TWELVE: Readonly<Record<string, RestingWreck>> = {
  "an ended run that asks": proven(
    at("paused and waiting"),
    ["UPDATE runs SET status = 'failed', finished_at = 1 WHERE run_id = $run"],
    ["terminal_leaves_nothing_open", "terminal_leaves_nothing_open"],
  ),
  "a paused run with a claim": proven(
    at("paused"),
    ["UPDATE claims SET released = 0 WHERE run_id = $run"],
    ["claim_means_active"],
  ),
  "a paused run that executes": proven(
    at("paused"),
    ["UPDATE attempts SET status = 'running', finished_at = NULL WHERE run_id = $run"],
    ["idle_executes_nothing"],
  ),
  "an effect that nobody applies": proven(
    (rig) => pausedAfter(rig, "queued with a pending effect"),
    ["UPDATE effects SET status = 'applying' WHERE run_id = $run"],
    ["applying_means_running"],
  ),
  "a person who was not asked": proven(
    at("waiting for a person"),
    ["DELETE FROM messages WHERE run_id = $run"],
    ["open_request_is_asked"],
  ),
  "a paused run that is to be shown": proven(
    at("paused while a model was asked"),
    ["UPDATE messages SET status = 'pending', closed_at = NULL WHERE run_id = $run"],
    ["open_message_has_request"],
  ),
  "an end that was not told": proven(
    async (rig) => {
      const { runId } = await askingModel(rig);
      await cancel(rig, runId);
      return runId;
    },
    ["DELETE FROM messages WHERE run_id = $run AND kind = 'result'"],
    ["end_is_told"],
  ),
  "a run that waits for nothing": unproven(
    async (rig) => {
      const worker = await rig.running("ask");
      await worker.ask();
      return worker.runId;
    },
    ["UPDATE interactions SET status = 'expired', closed_at = 1 WHERE run_id = $run"],
    ["waiting_for_one", "waiting_attempt_has_cause"],
  ),
  "a gap in the events": unproven(
    at("paused"),
    ["DELETE FROM events WHERE run_id = $run AND revision = 2"],
    ["events_without_gaps"],
  ),
  "a node of no graph": unproven(
    at("paused"),
    ["UPDATE runs SET node = 'nowhere' WHERE run_id = $run"],
    ["node_is_in_graph"],
  ),
  "a decision for no choice": unproven(
    (rig) => pausedAfter(rig, "running with a decision"),
    [`UPDATE interactions SET answer_json = '{"choice":"maybe"}' WHERE run_id = $run`],
    ["decision_is_a_choice"],
  ),
  "a value whose bytes are gone": unproven(
    async (rig) => {
      const worker = await rig.running();
      const outputJson = JSON.stringify("x".repeat(10_000));
      await worker.advance({ outcome: "ok", outputJson }, next("end"));
      await pause(rig, worker.runId);
      return worker.runId;
    },
    [
      `DELETE FROM blobs
         WHERE digest IN (SELECT output_blob FROM attempts WHERE run_id = $run)`,
    ],
    ["blob_is_there"],
  ),
};
