// A run is the code that it began with. Whatever changes between start and resume stops the run
// before the change is evaluated, names it, and leaves two ways on to a person.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { valueJson } from "../../src/client/json-value.ts";
import { rejectionOf } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import type { Rejection } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { BlockReason, RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { SourcePolicy } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import { FIRST_WORDS, FlowProject } from "../support/flow-project.ts";
import { answer, startRun } from "../support/journeys.ts";
import { Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const PACKAGE = "node_modules/words/package.json";

interface Change {
  readonly what: string;
  readonly make: (project: FlowProject) => void;
  /** What is named as changed, below the project. */
  readonly named: string;
  /** What the nodes say of their modules after the change was accepted; absent when it cannot be. */
  readonly words?: readonly string[];
}

const CHANGES: readonly Change[] = [
  {
    what: "the root",
    make: (project) => project.edit("flow.workflow.ts", "root 1", "root 2"),
    named: "flow.workflow.ts",
    words: ["root 2", "helper 1", "late 1", "words 1"],
  },
  {
    what: "a helper",
    make: (project) => project.edit("helper.ts", "helper 1", "helper 2"),
    named: "helper.ts",
    words: ["root 1", "helper 2", "late 1", "words 1"],
  },
  {
    what: "a module that a node loads",
    make: (project) => project.edit("late.ts", "late 1", "late 2"),
    named: "late.ts",
    words: ["root 1", "helper 1", "late 2", "words 1"],
  },
  {
    what: "a comment",
    make: (project) => project.edit("helper.ts", "export", "/* exported */ export"),
    named: "helper.ts",
    words: FIRST_WORDS,
  },
  {
    what: "a file that is gone",
    make: (project) => project.remove("helper.ts"),
    named: "helper.ts",
  },
  {
    what: "a package of another version",
    make: (project) => project.edit(PACKAGE, "1.0.0", "1.0.1"),
    named: "node_modules/words",
    words: FIRST_WORDS,
  },
];

describe.concurrent("between start and resume", () => {
  test.for(CHANGES)(
    "$what stops the run, and two ways lead on",
    async (change, { onTestFinished: cleanUp }) => {
      const { voyage, project } = flow(cleanUp);
      const first = await changed(voyage, project, change);
      // Resumed as it is, it would only be blocked again.
      const refused = await resume(voyage, first, SourcePolicy.UNSPECIFIED);
      expect(refused).toMatchObject({
        reason: Reason.SOURCE_CHANGED,
        names: [project.path(change.named)],
      });
      expect(await blockedFor(voyage, first)).toEqual([project.path(change.named)]);
      expect(existsSync(project.trace)).toBe(false);
      // Bytes of packages are not recorded: what is on the disk has to be accepted.
      const isPackage = change.named === "node_modules/words";
      const policy = isPackage ? SourcePolicy.ACCEPT : SourcePolicy.RECORDED;
      expect(await resume(voyage, first, policy)).toBeUndefined();
      expect(await wordsAtEnd(voyage, first)).toEqual({ before: FIRST_WORDS, after: FIRST_WORDS });
      expect(existsSync(project.trace)).toBe(false);
    },
  );

  test.for(CHANGES.filter(({ words }) => words !== undefined))(
    "$what can be accepted: what was done stays, what follows is new",
    async (change, { onTestFinished: cleanUp }) => {
      const { voyage, project } = flow(cleanUp);
      const runId = await changed(voyage, project, change);
      expect(await resume(voyage, runId, SourcePolicy.ACCEPT)).toBeUndefined();
      expect(await wordsAtEnd(voyage, runId)).toEqual({ before: FIRST_WORDS, after: change.words });
    },
  );

  test("a change that the run's past does not fit cannot be accepted, and says what does not", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, project } = flow(cleanUp);
    const runId = await changed(voyage, project, {
      make: () => project.edit("flow.workflow.ts", "plan: compute", "scheme: compute"),
      named: "flow.workflow.ts",
    });
    project.write("flow.workflow.ts", RENAMED);
    const refused = await resume(voyage, runId, SourcePolicy.ACCEPT);
    expect(refused?.reason).toBe(Reason.SOURCE_CHANGED);
    expect(refused?.message).toContain("node plan is gone");
    expect((await voyage.view(runId)).summary?.status).toBe(RunStatus.BLOCKED);
    expect(await resume(voyage, runId, SourcePolicy.RECORDED)).toBeUndefined();
    expect(await wordsAtEnd(voyage, runId)).toMatchObject({ before: FIRST_WORDS });
  });

  test("a project that was moved away stops the run, and the recorded bytes lead on", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, project } = flow(cleanUp);
    const runId = await changed(voyage, project, {
      make: () => {
        for (const name of ["flow.workflow.ts", "helper.ts", "late.ts"]) project.remove(name);
      },
      named: "flow.workflow.ts",
    });
    expect(await resume(voyage, runId, SourcePolicy.RECORDED)).toBeUndefined();
    expect(await wordsAtEnd(voyage, runId)).toEqual({ before: FIRST_WORDS, after: FIRST_WORDS });
  });
});

describe.concurrent("a broken file", () => {
  test("is refused at the start with all its problems, and nothing is stored", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, project } = flow(cleanUp);
    project.write("flow.workflow.ts", BROKEN);
    const refused = await refusalOf(startRun(voyage, "start", project.workflow));
    expect(refused?.reason).toBe(Reason.WORKFLOW_INVALID);
    const problems = (refused?.problems ?? []).map(({ place, message }) => `${place}: ${message}`);
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.stringContaining("retry.maxAttempts: must be a whole number"),
        expect.stringContaining('there is no node "nowhere"'),
      ]),
    );
    expect(refused?.problems.length).toBeGreaterThanOrEqual(3);
    expect((await voyage.ask(({ runs }) => runs.listRuns({}))).runs).toEqual([]);
  });

  test("that was mended is taken under the key that was refused", async ({
    onTestFinished: cleanUp,
  }) => {
    const { voyage, project } = flow(cleanUp);
    project.write("late.ts", "export const late = ;\n");
    project.edit("flow.workflow.ts", "import { helper }", 'import "./late";\nimport { helper }');
    const refused = await refusalOf(startRun(voyage, "start", project.workflow));
    expect(refused?.reason).toBe(Reason.WORKFLOW_INVALID);
    expect(refused?.problems[0]).toMatchObject({ file: project.path("late.ts"), line: 1 });
    project.write("late.ts", 'export const late = "late 1";\n');
    const runId = await startRun(voyage, "start", project.workflow);
    await voyage.untilStatus(runId, RunStatus.WAITING);
    await voyage.expectSound(runId);
  });
});

const RENAMED = `
import { checkpoint, compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "flow",
  startAt: "scheme",
  nodes: {
    scheme: compute({ run: () => 1 }),
    ask: checkpoint({ summary: "Go on?" }),
    done: compute({ run: () => 2 }),
  },
  edges: [{ from: "scheme", to: "ask" }, { from: "ask", to: "done" }],
});
`;

const BROKEN = `
import { compute, defineWorkflow } from "pi-workflows";
export default defineWorkflow({
  name: "broken",
  startAt: "first",
  nodes: {
    first: compute({ run: () => 1, retry: { maxAttempts: 0 } }),
    lonely: compute({ run: () => 1 }),
  },
  edges: [{ from: "first", to: "nowhere" }],
});
`;

function flow(cleanUp: CleanUp): { readonly voyage: Voyage; readonly project: FlowProject } {
  const voyage = new Voyage({ cleanUp });
  return { voyage, project: new FlowProject(voyage.project) };
}

/** A run that was answered after the change and is blocked because of it. */
async function changed(
  voyage: Voyage,
  project: FlowProject,
  { make, named }: Pick<Change, "make" | "named">,
): Promise<string> {
  const runId = await startRun(voyage, "start", project.workflow);
  await voyage.untilStatus(runId, RunStatus.WAITING);
  make(project);
  await answer(voyage, runId);
  expect(await blockedFor(voyage, runId)).toContain(project.path(named));
  expect(existsSync(project.trace)).toBe(false);
  return runId;
}

async function blockedFor(voyage: Voyage, runId: string): Promise<readonly string[]> {
  const { summary, changedFiles } = await voyage.untilStatus(runId, RunStatus.BLOCKED);
  expect(summary?.blockReason).toBe(BlockReason.SOURCE_CHANGED);
  await voyage.expectSound(runId);
  return changedFiles;
}

let resumes = 0;

/** The refusal, if it was refused. */
async function resume(
  voyage: Voyage,
  runId: string,
  sourcePolicy: SourcePolicy,
): Promise<Rejection | undefined> {
  resumes += 1;
  return refusalOf(
    voyage.command(`resume ${resumes}`, ({ runs }, command) =>
      runs.resumeRun({ command, runId, sourcePolicy }),
    ),
  );
}

async function refusalOf(call: Promise<unknown>): Promise<Rejection | undefined> {
  return call.then(() => undefined, rejectionOf);
}

async function wordsAtEnd(voyage: Voyage, runId: string): Promise<unknown> {
  const { result } = await voyage.untilStatus(runId, RunStatus.COMPLETED);
  await voyage.expectSound(runId);
  return valueJson(result);
}
