import { describe, expect, test } from "vitest";
import { tellOfOthers } from "../../../src/extension/elsewhere.ts";
import { Guard } from "../../../src/extension/guard.ts";
import type { RunSummary } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { ListRunsRequest } from "../../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { FakeLink, FakePlace, pictureOf, sessionRun } from "../../support/extension-fakes.ts";
import { until } from "../../support/pi/until.ts";

const waiting = (runId: string, originSession: string, interactionId = "int_1") =>
  sessionRun({ runId, originSession, interactionId, status: RunStatus.WAITING }).summary;

function beginning(runs: readonly (RunSummary | undefined)[]) {
  const asked: ListRunsRequest[] = [];
  const link = new FakeLink({
    runs: {
      listRuns: (request) => {
        asked.push(request);
        return { runs: runs.filter((run) => run !== undefined) };
      },
    },
  });
  const place = new FakePlace();
  const guard = new Guard();
  return { asked, link, place, guard, end: tellOfOthers(place, link, guard) };
}

describe("a session that begins", () => {
  test("tells once of a run that waits in another session", async () => {
    const { asked, link, place, guard } = beginning([
      waiting("run_1", "session-1"),
      waiting("run_2", "session-2"),
      waiting("run_3", ""),
      waiting("run_4", "session-2", ""),
    ]);
    link.show(pictureOf({}));
    link.show(pictureOf({}));
    await until(() => place.notes.length > 0, { what: () => "the notice" });
    expect(place.said).toBe("1 run of this project waits in another session: /workflow here run_2");
    expect(asked).toMatchObject([{ projectDir: "/project", statuses: [RunStatus.WAITING] }]);
    expect(link.listeners).toBe(0);
    expect(guard.faults).toEqual([]);
  });

  test("names the newest of several, and where the others are", async () => {
    const { link, place } = beginning([waiting("run_3", "s-3"), waiting("run_2", "s-2")]);
    link.show(pictureOf({}));
    await until(() => place.notes.length > 0, { what: () => "the notice" });
    expect(place.said).toBe(
      "2 runs of this project wait in other sessions: /workflow here run_3 (/workflow list shows all)",
    );
  });

  test("is silent before it is attached, in a headless run's Pi and after its end", async () => {
    const before = beginning([]);
    before.link.state = { kind: "connecting" };
    before.link.tell();
    expect(before.link.listeners).toBe(1);
    before.end();
    expect(before.link.listeners).toBe(0);
    const headless = beginning([]);
    headless.link.show(pictureOf({ headlessRunId: "run_1" }));
    expect(headless.link.listeners).toBe(0);
    expect([...before.asked, ...headless.asked]).toEqual([]);
  });

  test("does not speak of a host that is gone", async () => {
    const { link, place, guard } = beginning([]);
    const { promise, resolve } = Promise.withResolvers<void>();
    link.call = async () => {
      resolve();
      throw new Error("gone");
    };
    link.show(pictureOf({}));
    await promise;
    expect(guard.faults).toEqual([]);
    expect(place.notes).toEqual([]);
  });
});
