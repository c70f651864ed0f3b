// The table of deaths knows the points that somebody thought of. Here hosts and workers die after a
// number of events that chance picks, while several runs are under way; all of them must end well.
import { expect, onTestFinished, test } from "vitest";
import { toValue } from "../../src/cli/values.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { RunSummary } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { JOURNEYS, startRun } from "../support/journeys.ts";
import { numbers } from "../support/numbers.ts";
import { endingOf, Voyage } from "../support/voyage.ts";
import type { RealHost } from "../support/real-host.ts";

const RUNS = 5;
/** At most; the runs may all have ended before. */
const DEATHS = 5;
/** A death comes after at most so many further events. */
const EVENTS_BETWEEN_MAX = 10;
/** `FAULT_SEED=n` repeats what failed, or looks for more. */
const SEED = Number(process.env["FAULT_SEED"] ?? 1);

test(`${RUNS} runs end well whoever dies when (seed ${SEED})`, async () => {
  const voyage = new Voyage({
    cleanUp: onTestFinished,
    hostsMax: DEATHS + 2,
    // Fewer places than runs, so that some are always queued behind those that lose their workers.
    env: () => ({ PI_WORKFLOWS_CAPACITY: "2" }),
  });
  const chance = numbers(SEED);
  const runIds: string[] = [];
  for (let n = 0; n < RUNS; n += 1) runIds.push(await startRun(voyage, `start ${n}`, "travels"));
  const reaper = new Reaper(voyage, chance);
  await voyage.ask(async (host) => {
    await reaper.attend(host);
  });
  expect(reaper.deaths).toBeGreaterThan(2);
  for (const runId of runIds) {
    const view = await voyage.untilStatus(runId, RunStatus.COMPLETED);
    expect(endingOf(view)).toEqual(JOURNEYS.travels.ending);
    expect(Object.keys(voyage.effects(runId))).toEqual(Object.keys(JOURNEYS.travels.effects));
    await voyage.expectSound(runId);
  }
});

/** Answers and resumes what waits for a person, and ends somebody every few events. */
class Reaper {
  deaths = 0;
  readonly #voyage: Voyage;
  readonly #chance: () => number;
  #next: number;
  #resumes = 0;

  constructor(voyage: Voyage, chance: () => number) {
    this.#voyage = voyage;
    this.#chance = chance;
    this.#next = this.#later(0);
  }

  /** Ends when all runs have, or throws as the host does when it dies. */
  async attend({ host, runs, pid }: RealHost): Promise<void> {
    const open = new Set<string>();
    for await (const { runs: changed, cursor } of runs.watchRuns({})) {
      for (const run of changed) {
        if (run.finishedAt === undefined) open.add(run.runId);
        else open.delete(run.runId);
        void this.#serve(run);
      }
      if (open.size === 0) return;
      const position = Number(cursor?.position ?? 0n);
      if (this.deaths >= DEATHS || position < this.#next) continue;
      this.#next = this.#later(position);
      const { workers } = await host.getStatus({});
      const busy = workers.filter(({ runId }) => runId !== "").map((worker) => worker.pid);
      const victims = [pid, ...busy];
      this.deaths += 1;
      kill(victims[Math.floor(this.#chance() * victims.length)] ?? pid);
    }
  }

  /** What a person would do; nobody minds when the host dies of it or had it done before. */
  async #serve({ runId, status, interactionId }: RunSummary): Promise<void> {
    const { runs, interactions } = await this.#voyage.host();
    const by = (key: string) => ({ command: { requestId: key, client: "test" } });
    try {
      if (interactionId !== "")
        await interactions.answerCheckpoint({
          ...by(`answer ${runId}`),
          interactionId,
          answer: toValue("answer", "yes"),
        });
      if (status === RunStatus.BLOCKED)
        await runs.resumeRun({ ...by(`resume ${(this.#resumes += 1)}`), runId });
    } catch {
      // The next state of the run shows whether it is still to be done.
    }
  }

  #later(position: number): number {
    return position + 1 + Math.floor(this.#chance() * EVENTS_BETWEEN_MAX);
  }
}

/** A worker may have ended since it was listed. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Then this death was its own.
  }
}
