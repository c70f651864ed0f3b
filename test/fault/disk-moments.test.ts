// A disk that is full at the moment of every single call: each is refused or waits, nothing that was
// acknowledged is lost, and what was done once is not done again.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { CrampedVoyage } from "../support/cramped-voyage.ts";
import { answer, JOURNEYS, startRun } from "../support/journeys.ts";
import type { JourneyName } from "../support/journeys.ts";
import { keptOf } from "../support/kept.ts";
import { runHost } from "../support/real-host.ts";
import { SESSION_JOURNEYS } from "../support/session-voyage.ts";
import { canMount, SmallDisk } from "../support/small-disk.ts";
import { endingOf, Voyage } from "../support/voyage.ts";

const { WAITING, COMPLETED } = RunStatus;
/** Every command, every transition and every end of an effect is in one of them. */
const WAYS: readonly JourneyName[] = [
  "travels",
  "losesWorker",
  "pauses",
  "cancels",
  "charges",
  "housekeeping",
];

describe
  .skipIf(!canMount())
  .concurrent("a disk that is full at every call (needs the right to mount one)", () => {
    test.for(WAYS)("brings a run that %s to the same end", async (name, { onTestFinished }) => {
      const voyage = new CrampedVoyage(onTestFinished);
      const journey = JOURNEYS[name];
      const { ending, effects } = journey;
      const runId = await journey.go(voyage, []);
      expect(endingOf(await voyage.view(runId))).toEqual(ending);
      expect(voyage.effects(runId)).toEqual(effects);
      expect(voyage.refused).toBeGreaterThan(0);
      await voyage.expectSound(runId);
    });

    test.for(["confers", "moves"] as const)(
      "shows a session each message once, in a run that %s",
      async (name, { onTestFinished }) => {
        const voyage = new CrampedVoyage(onTestFinished);
        const journey = SESSION_JOURNEYS[name];
        const { ending, kept } = journey;
        const runId = await journey.go(voyage, onTestFinished);
        expect(endingOf(await voyage.view(runId))).toEqual(ending);
        expect(await keptOf(voyage, runId)).toEqual(kept);
        // The start, what was submitted, the reply, the decision, and reports between them.
        expect(voyage.refused).toBeGreaterThan(4);
        await voyage.expectSound(runId);
      },
    );

    test("keeps a host from starting, which says so, and loses nothing by it", async ({
      onTestFinished: cleanUp,
    }) => {
      const disk = new SmallDisk(cleanUp, 16);
      const voyage = new Voyage({ cleanUp, state: disk.folder });
      const runId = await startRun(voyage, "start", "travels");
      await voyage.untilStatus(runId, WAITING);
      const { paths } = await voyage.host();
      await voyage.leave("kill");
      disk.fill();
      for (const _ of ["once", "twice"]) {
        const { code, stderr } = await runHost(disk.folder, {}, cleanUp);
        expect(code).toBe(5);
        expect(stderr).toMatch(/disk is full/);
      }
      disk.free();
      await answer(voyage, runId);
      await voyage.untilStatus(runId, COMPLETED);
      expect(voyage.effects(runId)).toEqual(JOURNEYS.travels.effects);
      expect(existsSync(paths.database)).toBe(true);
      await voyage.expectSound(runId);
    });

    test("hinders no backup to another disk", async ({ onTestFinished: cleanUp }) => {
      const disk = new SmallDisk(cleanUp, 16);
      const voyage = new Voyage({ cleanUp, state: disk.folder });
      const runId = await startRun(voyage, "start", "travels");
      await voyage.untilStatus(runId, WAITING);
      disk.fill();
      const path = join(voyage.project, "copy.db");
      const { bytes } = await voyage.ask(({ host }) => host.backup({ path }));
      expect(Number(bytes)).toBe(statSync(path).size);
      const copy = new Database(path, { readonly: true });
      const ids = copy.prepare("SELECT run_id FROM runs").pluck().all();
      copy.close();
      expect(ids).toEqual([runId]);
      disk.free();
      await voyage.expectSound(runId);
    });
  });
