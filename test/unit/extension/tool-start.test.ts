import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { valueJson } from "../../../src/client/json-value.ts";
import { Outcome } from "../../../src/gen/piworkflows/common/v1/command_pb.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import type { StartRunRequest } from "../../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { pictureOf } from "../../support/extension-fakes.ts";
import { refusal } from "../../support/fake-host.ts";
import { createProject } from "../../support/loader.ts";
import { toolRig } from "../../support/tool-rig.ts";
import type { ToolRig } from "../../support/tool-rig.ts";

const startedAs = (runId: string, outcome: Outcome = Outcome.COMMITTED) => ({
  receipt: { runId, outcome },
});

describe("a start", () => {
  const FILES = { ".pi/workflows/mine.workflow.ts": "", "other.workflow.ts": "" };

  // Nobody's trust, whoever runs this.
  beforeEach(() => {
    vi.stubEnv("PI_CODING_AGENT_DIR", createProject({}).folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  function starting(outcome: Outcome = Outcome.COMMITTED): ToolRig & { asked: StartRunRequest[] } {
    const asked: StartRunRequest[] = [];
    const made = toolRig({
      runs: {
        startRun: (request) => {
          asked.push(request);
          return startedAs("run_7", outcome);
        },
      },
    });
    made.place.cwd = createProject(FILES).folder;
    return { ...made, asked };
  }

  test("comes from this session, with the file that was found", async () => {
    const { call, asked, place } = starting();
    const { text } = await call({ action: "start", workflow: "mine", input: { tag: "v1" } });
    expect(text).toContain("Started run_7");
    expect(text).toContain("do not poll");
    expect(asked[0]).toMatchObject({
      workflow: `${place.cwd}/.pi/workflows/mine.workflow.ts`,
      projectDir: place.cwd,
      originSession: "session-1",
      allowDuplicate: false,
    });
    expect(valueJson(asked[0]?.input)).toEqual({ tag: "v1" });
  });

  test("leaves what it cannot find to the host, which knows near names", async () => {
    const { call, asked } = starting();
    await call({ action: "start", workflow: "nothing" });
    expect(asked[0]?.workflow).toBe("nothing");
  });

  test("passes on that two runs are wanted", async () => {
    const { call, asked } = starting();
    await call({ action: "start", workflow: "mine", allowDuplicate: true });
    expect(asked[0]?.allowDuplicate).toBe(true);
  });

  test("says when the run exists already, but not about its own repeat", async () => {
    const { call, link } = starting(Outcome.ADOPTED);
    const again = await call({ action: "start", workflow: "mine" });
    expect(again.text).toContain("runs already");
    expect(again.text).toContain("allowDuplicate");
    link.lostReplies = 1;
    expect((await call({ action: "start", workflow: "mine" })).text).toContain("Started run_7");
  });

  test("warns of a Pi that keeps no session file", async () => {
    const { call, place } = starting();
    place.sessionFile = undefined;
    expect((await call({ action: "start", workflow: "mine" })).text).toContain("no session file");
  });

  test("of the project's own workflow is refused in a project that is not trusted", async () => {
    const { call, place, asked } = starting();
    place.trusted = false;
    for (const workflow of ["mine", ".pi/workflows/mine.workflow.ts"]) {
      const { text, isError } = await call({ action: "start", workflow });
      expect(isError).toBe(true);
      expect(text).toContain("not trusted");
    }
    expect(asked).toEqual([]);
    expect((await call({ action: "start", workflow: "other.workflow.ts" })).isError).toBe(false);
  });

  test("of the project's code asks the user once where nothing is decided", async () => {
    const { call, place, asked } = starting();
    await call({ action: "start", workflow: "mine" });
    await call({ action: "start", workflow: "other.workflow.ts" });
    expect(place.confirmed).toHaveLength(1);
    expect(place.confirmed[0]).toContain(place.cwd);
    expect(asked).toHaveLength(2);
  });

  test("does not happen against the user's word, and does not ask again", async () => {
    const { call, place, asked } = starting();
    place.confirms = false;
    const { text, isError } = await call({ action: "start", workflow: "mine" });
    expect(isError).toBe(true);
    expect(text).toContain("The user can type /workflow start mine");
    place.confirms = true;
    expect((await call({ action: "start", workflow: "mine" })).isError).toBe(true);
    expect(place.confirmed).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  test("asks again when a stopped turn has closed the question", async () => {
    const { call, place, asked } = starting();
    place.confirms = undefined;
    const turn = new AbortController();
    const stopped = call({ action: "start", workflow: "mine" }, turn.signal);
    turn.abort();
    expect((await stopped).isError).toBe(true);
    place.confirms = true;
    expect((await call({ action: "start", workflow: "mine" })).isError).toBe(false);
    expect(asked).toHaveLength(1);
  });

  test("asks nobody about a project that is trusted, or a file outside of it", async () => {
    const { call, place } = starting();
    const elsewhere = createProject({ "far.workflow.ts": "" }).folder;
    await call({ action: "start", workflow: `${elsewhere}/far.workflow.ts` });
    const profile = createProject({ "trust.json": JSON.stringify({ [place.cwd]: true }) }).folder;
    vi.stubEnv("PI_CODING_AGENT_DIR", profile);
    await call({ action: "start", workflow: "mine" });
    expect(place.confirmed).toEqual([]);
  });

  test("is refused in the session of a headless run", async () => {
    const { call, link, asked } = starting();
    link.picture = pictureOf({ headlessRunId: "run_1" });
    expect((await call({ action: "start", workflow: "mine" })).text).toContain("run_1 alone");
    expect((await call({ action: "restart", run: "run_2" })).isError).toBe(true);
    expect(asked).toEqual([]);
  });

  test("of a file with mistakes lists them", async () => {
    const problems = [
      { message: 'there is no node "x"', file: "/p/a.ts", line: 3, place: "edges[0]" },
    ];
    const { call } = toolRig({
      runs: {
        startRun: () => {
          const fields = { reason: Reason.WORKFLOW_INVALID, message: "a.ts cannot run", problems };
          throw refusal(Code.InvalidArgument, fields);
        },
      },
    });
    const { text } = await call({ action: "start", workflow: "a.workflow.ts" });
    expect(text).toContain('- /p/a.ts:3: there is no node "x" (edges[0])');
  });

  test("of an unknown name offers the near ones", async () => {
    const { call } = toolRig({
      runs: {
        startRun: () => {
          const fields = { reason: Reason.WORKFLOW_NOT_FOUND, message: "no mien", names: ["mine"] };
          throw refusal(Code.NotFound, fields);
        },
      },
    });
    expect((await call({ action: "start", workflow: "mien" })).text).toContain(
      "Did you mean: mine?",
    );
  });
});
