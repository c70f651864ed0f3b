import { describe, expect, test } from "vitest";
import { completions } from "../../../src/extension/command/completions.ts";
import type { CompletionSource } from "../../../src/extension/command/completions.ts";
import {
  COMMANDS,
  CommandUsageError,
  parseCommand,
  usageLines,
} from "../../../src/extension/command/parse.ts";
import { InteractionKind } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { pictureOf, sessionRun } from "../../support/extension-fakes.ts";

const parsed = (typed: string) => {
  const { name, target, rest, flags } = parseCommand(typed) ?? {};
  return { name, target, rest, flags: [...(flags ?? [])] };
};

describe("what is typed after /workflow", () => {
  test("is an action, its target and the rest as it was typed", () => {
    expect(parsed('start notes {"a":  1}')).toEqual({
      name: "start",
      target: "notes",
      rest: '{"a":  1}',
      flags: [],
    });
    expect(parsed("  cancel   run_1  no longer   needed ")).toMatchObject({
      target: "run_1",
      rest: "no longer   needed",
    });
  });

  test("may quote a target that holds spaces", () => {
    expect(parsed('start "my notes.workflow.ts" x')).toMatchObject({
      target: "my notes.workflow.ts",
      rest: "x",
    });
    expect(parsed("start 'a b'")).toMatchObject({ target: "a b", rest: "" });
  });

  test("may have its options before or after the target", () => {
    expect(parsed("pause --now run_1")).toMatchObject({ target: "run_1", flags: ["--now"] });
    expect(parsed("resume run_1 --accept-source")).toMatchObject({ flags: ["--accept-source"] });
  });

  test("may have its options after the input, and words that look like options in it", () => {
    expect(parsed('start notes {"a":  1} --allow-duplicate')).toEqual({
      name: "start",
      target: "notes",
      rest: '{"a":  1}',
      flags: ["--allow-duplicate"],
    });
    expect(parsed("start notes use --force always")).toMatchObject({
      rest: "use --force always",
      flags: [],
    });
    expect(parsed("start notes use --force")).toMatchObject({ rest: "use --force", flags: [] });
  });

  test("with an unknown action or option is told the known ones", () => {
    expect(() => parseCommand("strat x")).toThrow(CommandUsageError);
    expect(() => parseCommand("strat x")).toThrow("start, status");
    expect(() => parseCommand("pause --later")).toThrow("its options: --now");
    expect(() => parseCommand("list --all")).toThrow("it has no options");
    expect(() => parseCommand("toString")).toThrow(CommandUsageError);
  });

  test("is help when it is nothing", () => {
    expect(parseCommand("")).toBeUndefined();
    expect(parseCommand("help")).toBeUndefined();
    expect(usageLines()).toHaveLength(Object.keys(COMMANDS).length);
    expect(usageLines().join("\n")).toContain("/workflow pause [RUN] [--now]  – stop a run");
  });
});

describe("completion", () => {
  const asks = (runId: string, interactionId: string, interactionKind: InteractionKind) =>
    sessionRun({ runId, interactionId, interactionKind, status: RunStatus.WAITING });
  const source: CompletionSource = {
    picture: pictureOf({
      runs: [
        sessionRun({ runId: "run_1" }),
        asks("run_2", "int_2", InteractionKind.CHECKPOINT),
        asks("run_3", "int_3", InteractionKind.HUMAN_DECISION),
      ],
      ended: sessionRun({ runId: "run_4", status: RunStatus.FAILED }),
    }),
    workflows: () => [
      { name: "notes", origin: "project" },
      { name: "news", origin: "user" },
    ],
  };
  const values = (typed: string, from = source) =>
    completions(typed, from)?.map(({ value }) => value) ?? null;

  test("offers all actions, then those that fit", () => {
    expect(values("")).toEqual(Object.keys(COMMANDS));
    expect(values("re")).toEqual(["resume", "restart"]);
    expect(completions("dec", source)).toEqual([
      { value: "decide", label: "decide", description: COMMANDS.decide.help },
    ]);
  });

  test("is silent where nothing is missing, because a list would take the Enter key", () => {
    expect(values("resume")).toBeNull();
    expect(values("pause run_1")).toBeNull();
    expect(values("list ")).toBeNull();
    expect(values("start notes and more")).toBeNull();
  });

  test("offers workflows, runs and the requests that the action answers", () => {
    expect(values("start n")).toEqual(["start notes", "start news"]);
    expect(values("pause ")).toEqual([1, 2, 3, 4].map((number) => `pause run_${number}`));
    expect(values("answer ")).toEqual(["answer int_2"]);
    expect(values("decide ")).toEqual(["decide int_3"]);
  });

  test("describes a run by its status and title", () => {
    expect(completions("status run_4", source)).toBeNull();
    expect(completions("status run_", source)?.at(-1)?.description).toBe("failed: release 1.2");
  });

  test("offers options", () => {
    expect(values("resume run_1 --")).toEqual([
      "resume run_1 --recorded-source",
      "resume run_1 --accept-source",
    ]);
  });

  test("offers nothing for what it does not know or before the first picture", () => {
    expect(values("strat ")).toBeNull();
    expect(values("pause ", { ...source, picture: undefined })).toBeNull();
  });
});
