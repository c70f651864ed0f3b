// The one file that holds everything may be locked, taken away, or damaged. Nothing is lost by a
// lock, nothing is written to a file that is no longer the host's own, and no damage is believed.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { BlockReason, RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { lockDatabase, writeWithoutPause } from "../support/database-lock.ts";
import { answer, startRun } from "../support/journeys.ts";
import { startRealHost } from "../support/real-host.ts";
import { Voyage } from "../support/voyage.ts";

const SHORT_LEASE = { PI_WORKFLOWS_CLAIM_MS: "3000", PI_WORKFLOWS_RENEW_MS: "1000" };
const PING_MS = 100;

describe.concurrent("a database that another program has locked", () => {
  test("for longer than a lease costs no run its claim, and reads are answered", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp, env: () => SHORT_LEASE });
    const runId = await startRun(voyage, "start", "ticks");
    await voyage.untilStatus(runId, RunStatus.RUNNING);
    const host = await voyage.host();
    const unlock = await lockDatabase(host.paths.database, cleanUp);
    const queued = startRun(voyage, "start other", "exits");
    writeFileSync(join(voyage.project, "gate"), "");
    const latencies = await pingFor(voyage, 4_000);
    await unlock();
    const { attempts, worker } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
    expect(attempts).toHaveLength(1);
    expect(worker?.generation).toBe(1);
    await voyage.untilStatus(await queued, RunStatus.COMPLETED);
    // The loop was never held by the wait.
    expect(latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length / 2)]).toBeLessThan(500);
    await voyage.expectSound(runId);
  });

  test("for eight seconds while a host starts strands no run", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp });
    const starts = Array.from({ length: 10 }, (_, n) => startRun(voyage, `start ${n}`, "travels"));
    const runIds = await Promise.all(starts);
    await voyage.until(runIds[0] ?? "", ({ summary }) => summary?.status !== RunStatus.QUEUED);
    const { paths } = await voyage.host();
    await voyage.leave("kill");
    const unlock = await lockDatabase(paths.database, cleanUp);
    const next = voyage.host();
    await sleep(8_000);
    await unlock();
    await next;
    for (const runId of runIds) {
      await voyage.untilStatus(runId, RunStatus.WAITING);
      expect(Object.keys(voyage.effects(runId))).toEqual(["line:write:1", "stamp:stamp:1"]);
    }
    await voyage.expectSound(runIds[0] ?? "");
  });
});

describe.concurrent("a database that another program uses", () => {
  test("and has locked for eight seconds lets heartbeats, answers and claims wait, unseen", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp, env: () => SHORT_LEASE });
    const asking = await startRun(voyage, "start", "travels");
    const ticking = await startRun(voyage, "start ticks", "ticks");
    await voyage.untilStatus(asking, RunStatus.WAITING);
    await voyage.untilStatus(ticking, RunStatus.RUNNING);
    const { paths } = await voyage.host();
    const unlock = await lockDatabase(paths.database, cleanUp, "BEGIN EXCLUSIVE");
    const answered = answer(voyage, asking);
    const started = startRun(voyage, "start third", "exits");
    await pingFor(voyage, 8_000);
    expect((await voyage.view(asking)).summary?.status).toBe(RunStatus.WAITING);
    await unlock();
    await answered;
    await voyage.untilStatus(await started, RunStatus.COMPLETED);
    await voyage.untilStatus(asking, RunStatus.COMPLETED);
    writeFileSync(join(voyage.project, "gate"), "");
    const { attempts, worker } = await voyage.untilStatus(ticking, RunStatus.COMPLETED);
    expect({ attempts: attempts.length, generation: worker?.generation }).toEqual({
      attempts: 1,
      generation: 1,
    });
    expect(Object.values(voyage.effects(asking))).toEqual([1, 1]);
    await voyage.expectSound(asking);
  });

  test("and writes to without a pause serves starts, runs, answers, backups and the next host", async ({
    onTestFinished: cleanUp,
  }) => {
    const voyage = new Voyage({ cleanUp });
    const { paths } = await voyage.host();
    const large = await startRun(voyage, "start large", "exits", { text: "x".repeat(2_000_000) });
    await voyage.untilStatus(large, RunStatus.COMPLETED);
    const end = await writeWithoutPause(paths.database, cleanUp);
    const runId = await startRun(voyage, "start", "travels");
    await voyage.untilStatus(runId, RunStatus.WAITING);
    const path = join(voyage.project, "copy.db");
    await voyage.ask(({ host }) => host.backup({ path }));
    await voyage.leave("kill");
    await answer(voyage, runId);
    await voyage.untilStatus(runId, RunStatus.COMPLETED);
    await end();
    expect(Object.values(voyage.effects(runId))).toEqual([1, 1]);
    const copy = new Database(path, { readonly: true });
    const verdict = copy.pragma("integrity_check", { simple: true });
    copy.close();
    expect(verdict).toBe("ok");
    await voyage.expectSound(runId);
  });
});

describe.concurrent("a host under which somebody", () => {
  test.for([
    { what: "removed the database", replace: (database: string) => rmSync(database) },
    {
      what: "moved the folder away",
      replace: (_database: string, folder: string) => {
        renameSync(folder, `${folder}.away`);
        mkdirSync(folder, { mode: 0o700 });
      },
    },
  ])(
    "$what ends and says why, and writes nothing more",
    async ({ replace }, { onTestFinished: cleanUp }) => {
      const host = await startRealHost({ cleanUp, env: { PI_WORKFLOWS_SPARES: "0" } });
      const { database, folder, log } = host.paths;
      cleanUp(() => rmSync(`${folder}.away`, { recursive: true, force: true }));
      replace(database, folder);
      expect(await host.exited).toMatchObject({ code: 74 });
      const lines = ["", ".away"].map((suffix) => readLog(log.replace(folder, folder + suffix)));
      expect(lines.join("\n")).toContain("was replaced");
    },
  );
});

test("a run whose stored value is damaged is stopped before a node executes", async () => {
  const voyage = new Voyage({ cleanUp: onTestFinished });
  const runId = await startRun(voyage, "start", "travels", { filling: "x".repeat(20_000) });
  await voyage.untilStatus(runId, RunStatus.WAITING);
  const { paths } = await voyage.host();
  await voyage.leave("stop");
  const db = new Database(paths.database);
  db.exec(
    "UPDATE blobs SET bytes = CAST(replace(bytes, 'xxxx', 'yyyy') AS BLOB) WHERE instr(bytes, 'xxxx') > 0",
  );
  db.close();
  await answer(voyage, runId);
  const { summary } = await voyage.untilStatus(runId, RunStatus.BLOCKED);
  expect(summary?.blockReason).toBe(BlockReason.NO_PROGRESS);
  expect(summary?.detail).toMatch(/a stored value is damaged/);
  const { findings } = await voyage.ask(({ host }) => host.diagnose({}));
  expect(findings.map(({ invariant }) => invariant)).toEqual(["blob_is_there"]);
});

/** Asks for the host's state every tenth of a second; how long each answer took. */
async function pingFor(voyage: Voyage, ms: number): Promise<readonly number[]> {
  const latencies: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const begun = performance.now();
    await voyage.ask(({ host }) => host.getStatus({}));
    latencies.push(performance.now() - begun);
    await sleep(PING_MS);
  }
  return latencies;
}

function readLog(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
