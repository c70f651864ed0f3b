import { describe, expect, test } from "vitest";
import { valueJson } from "../../../src/client/json-value.ts";
import { HostUnreachableError } from "../../../src/client/host-error.ts";
import { Outcome } from "../../../src/gen/piworkflows/common/v1/command_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { SourcePolicy } from "../../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import type {
  ResumeRunRequest,
  StartRunRequest,
} from "../../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { commandRig } from "../../support/command-rig.ts";
import { pictureOf, sessionRun } from "../../support/extension-fakes.ts";
import { createProject } from "../../support/loader.ts";
import { until } from "../../support/pi/until.ts";

const PAUSED = sessionRun({ runId: "run_2", status: RunStatus.PAUSED });

describe("/workflow", () => {
  test("alone says how it is used", async () => {
    const { type } = commandRig();
    expect(await type("")).toContain("/workflow decide [ID]");
  });

  test("says what is wrong instead of throwing", async () => {
    const { type, place, link } = commandRig();
    await type("strat");
    link.unreachable = new HostUnreachableError("absent", "no host is running", "/log");
    await type("host");
    await type("cancel");
    expect(place.notes.map(({ type: kind }) => kind)).toEqual(["error", "error", "error"]);
    expect(place.said).toContain("no host is running");
    expect(place.said).toContain("no run of this session to cancel");
  });

  test("does nothing with a Pi that is not supported", async () => {
    const { type, link } = commandRig();
    link.state = { kind: "unsupported", reason: "Pi 2.0 is not supported" };
    expect(await type("list")).toBe("workflow: Pi 2.0 is not supported");
  });

  test("completes with the names of the project's workflows", () => {
    const { complete } = commandRig();
    expect(complete("li")).toMatchObject([{ value: "list" }]);
  });
});

describe("/workflow start", () => {
  test("starts from this session with the typed input, and warns of a Pi without a file", async () => {
    const asked: StartRunRequest[] = [];
    const { type, place } = commandRig({
      runs: {
        startRun: (request) => {
          asked.push(request);
          return { receipt: { runId: "run_7" } };
        },
      },
    });
    place.cwd = createProject({ "notes.workflow.ts": "" }).folder;
    place.sessionFile = undefined;
    await type('start notes.workflow.ts --allow-duplicate {"tag":"v1"}');
    expect(asked[0]).toMatchObject({
      workflow: `${place.cwd}/notes.workflow.ts`,
      originSession: "session-1",
      allowDuplicate: true,
    });
    expect(valueJson(asked[0]?.input)).toEqual({ tag: "v1" });
    expect(place.notes.map(({ type: kind }) => kind)).toEqual(["info", "warning"]);
    expect(place.notes[0]?.text).toBe("started notes (run_7)");
    await type("start notes.workflow.ts since yesterday");
    expect(valueJson(asked[1]?.input)).toBe("since yesterday");
  });

  test("says that the run exists already", async () => {
    const receipt = { runId: "run_7", outcome: Outcome.ADOPTED };
    const { type } = commandRig({ runs: { startRun: () => ({ receipt }) } });
    expect(await type("start notes")).toContain("run_7 runs already");
  });

  test("refuses the project's workflow where the project is not trusted", async () => {
    const { type, place } = commandRig();
    place.cwd = createProject({ ".pi/workflows/mine.workflow.ts": "" }).folder;
    place.trusted = false;
    expect(await type("start mine")).toContain("not trusted");
    expect(await type("start")).toContain("usage:");
  });
});

describe("/workflow resume", () => {
  function resuming() {
    const asked: ResumeRunRequest[] = [];
    const rig = commandRig({
      runs: {
        resumeRun: (request) => {
          asked.push(request);
          return { run: { runId: request.runId, title: "t", status: RunStatus.WAITING } };
        },
      },
    });
    return { ...rig, asked };
  }

  test("lets the paused run go on, and steps start turns again", async () => {
    const { type, link, asked } = resuming();
    link.picture = pictureOf({ runs: [sessionRun(), PAUSED] });
    expect(await type("resume")).toBe("resumed: t");
    expect(asked).toMatchObject([{ runId: "run_2" }]);
    expect(link.wakes).toBe(1);
  });

  test("allows turns also when no run is paused", async () => {
    const { type, link, asked } = resuming();
    link.picture = pictureOf({ runs: [sessionRun()] });
    expect(await type("resume")).toContain("steps may start turns again");
    expect(link.wakes).toBe(1);
    expect(asked).toEqual([]);
  });

  test("waits until the host has closed the turn that was stopped", async () => {
    const { type, link, asked } = resuming();
    const runs = [sessionRun({ runId: "run_2", status: RunStatus.WAITING })];
    link.picture = pictureOf({ runs, openTurn: "msg_1" });
    const done = type("resume");
    await until(() => link.listeners === 1, { what: () => "somebody who waits" });
    link.tell();
    expect(asked).toEqual([]);
    link.show(pictureOf({ runs: [PAUSED] }));
    await done;
    expect(asked).toMatchObject([{ runId: "run_2" }]);
    expect(link.listeners).toBe(0);
  });

  test("does not wait for the turn of another run", async () => {
    const { type, link, asked } = resuming();
    link.picture = pictureOf({ runs: [sessionRun(), PAUSED], openTurn: "msg_1" });
    await type("resume run_2 --recorded-source");
    expect(asked).toMatchObject([{ runId: "run_2", sourcePolicy: SourcePolicy.RECORDED }]);
  });

  test("knows a run of the session by the end of its id", async () => {
    const { type, link, asked } = resuming();
    const run = sessionRun({ runId: "run_01m8mammqv", status: RunStatus.PAUSED });
    link.picture = pictureOf({ runs: [sessionRun(), run] });
    await type("resume mammqv");
    await type("resume run_…mammqv");
    expect(asked.map(({ runId }) => runId)).toEqual(["run_01m8mammqv", "run_01m8mammqv"]);
  });
});

describe("/workflow here", () => {
  test("takes the session over, and says when it is done", async () => {
    const { type, link } = commandRig();
    link.state = { kind: "attached", holder: false };
    const done = type("here");
    await until(() => link.takeOvers === 1, { what: () => "the take-over" });
    link.state = { kind: "attached", holder: true };
    link.tell();
    expect(await done).toContain("shows the steps of the session now");
    expect(link.listeners).toBe(0);
    expect(await type("here")).toContain("already");
    expect(link.takeOvers).toBe(1);
  });

  test("moves a run to this session", async () => {
    const asked: object[] = [];
    const { type, link, place } = commandRig({
      sessions: {
        adoptRun: ({ runId, sessionId, attachmentId }) => {
          asked.push({ runId, sessionId, attachmentId });
          return { receipt: { runId } };
        },
      },
    });
    expect(await type("here run_5")).toContain("run_5 come into this session");
    expect(asked).toEqual([{ runId: "run_5", sessionId: "session-1", attachmentId: "att-1" }]);
    link.identity = {};
    await type("here run_5");
    expect(place.notes.at(-1)).toMatchObject({ type: "error" });
  });
});

describe("looking on", () => {
  const services = {
    runs: {
      getRun: ({ runId }: { readonly runId: string }) => ({
        run: { summary: { ...sessionRun().summary, runId } as never },
      }),
      listRuns: () => ({ runs: [] }),
    },
    host: {
      getStatus: () => ({
        version: "0.1.0",
        state: "serving",
        pid: 7,
        capacity: 4,
        runs: [{ status: RunStatus.WAITING, count: 2n }],
      }),
      diagnose: () => ({ findings: [{ invariant: "one-claim", message: "two claims" }] }),
    },
  };

  test("status shows the session's runs with their ids, or one of them whole", async () => {
    const { type, link } = commandRig(services);
    expect(await type("status")).toContain("No runs in this session");
    link.picture = pictureOf({ runs: [sessionRun()] });
    expect(await type("status")).toContain("▶ release 1.2 · draft (step 3)");
    expect(await type("status run_8")).toContain("▶ running run_8 release 1.2");
  });

  test("the key shows the only run, as a text where nothing can be drawn", async () => {
    const { press, link } = commandRig(services);
    link.picture = pictureOf({ runs: [sessionRun()] });
    expect(await press()).toContain("▶ running run_1 release 1.2");
  });

  test("list shows workflows and runs of the project", async () => {
    const { type, place } = commandRig(services);
    place.cwd = createProject({ ".pi/workflows/mine.workflow.ts": "" }).folder;
    const said = await type("list");
    expect(said).toContain("mine (project)");
    expect(said).toContain("No runs in this project");
  });

  test("host and doctor say how it is", async () => {
    const { type, place } = commandRig(services);
    expect(await type("host")).toContain("host 0.1.0 serving (pid 7)");
    const said = await type("doctor");
    expect(said).toContain("runs: 2 waiting");
    expect(said).toContain("one-claim: two claims");
    expect(said).toContain("project trusted");
    expect(place.notes.at(-1)?.type).toBe("warning");
  });

  test("clear says when there is nothing to clear", async () => {
    expect(await commandRig().type("clear")).toContain("nothing to clear");
  });
});

describe("steering", () => {
  const run = { runId: "run_1", title: "t", status: RunStatus.PAUSED };

  test.each(["pause", "cancel"])(
    "%s takes the only run, and asks which of several",
    async (verb) => {
      const ids: string[] = [];
      const take = ({ runId }: { readonly runId: string }) => {
        ids.push(runId);
        return { run };
      };
      const services = { runs: { pauseRun: take, cancelRun: take } };
      const { type, link, place } = commandRig(services, "run_3 running: release 1.2", undefined);
      link.picture = pictureOf({ runs: [sessionRun()] });
      expect(await type(verb)).toBe("run_1 is paused: t");
      link.picture = pictureOf({ runs: [sessionRun(), sessionRun({ runId: "run_3" })] });
      await type(verb);
      await type(verb);
      expect(ids).toEqual(["run_1", "run_3"]);
      expect(place.asked[0]?.title).toContain(verb);
    },
  );

  test("restart offers the run that has ended", async () => {
    const { type, link } = commandRig({
      runs: { restartRun: ({ runId }) => ({ receipt: { runId: `${runId}-again` } }) },
    });
    link.picture = pictureOf({ ended: sessionRun({ runId: "run_4", status: RunStatus.FAILED }) });
    expect(await type("restart")).toBe("started run_4-again from the input of run_4");
  });
});
