import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { jsonValue, valueJson } from "../../../src/client/json-value.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { InteractionKind } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import type { Interaction } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import type {
  AnswerCheckpointRequest,
  AnswerDecisionRequest,
} from "../../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { commandRig } from "../../support/command-rig.ts";
import type { CommandRig } from "../../support/command-rig.ts";
import { ago, pictureOf, sessionRun } from "../../support/extension-fakes.ts";
import { refusal } from "../../support/fake-host.ts";
import { until } from "../../support/pi/until.ts";

const CHOICES = [
  { id: "yes", label: "Publish" },
  { id: "no", label: "Drop it" },
  {
    id: "wish",
    label: "Change",
    input: { name: "wish", prompt: "What?", minLength: 3, maxLength: 9 },
  },
];

const DECISION = {
  interactionId: "int_3",
  kind: InteractionKind.HUMAN_DECISION,
  runTitle: "release 1.2",
  summary: "Publish?",
  audience: "the editor",
  choices: CHOICES,
  deadlineAt: ago(-60_000),
  hasDefault: true,
  request: jsonValue({ title: "Publish these notes?", subject: "# Notes\nall of them" }),
};

const waiting = (interactionId: string, interactionKind: InteractionKind, runId = "run_1") =>
  sessionRun({ runId, interactionId, interactionKind, status: RunStatus.WAITING });

describe("/workflow decide", () => {
  function deciding(...answers: (string | undefined)[]): CommandRig & {
    asked: AnswerDecisionRequest[];
  } {
    const asked: AnswerDecisionRequest[] = [];
    const rig = commandRig(
      {
        interactions: {
          getInteraction: () => ({ interaction: DECISION }),
          answerDecision: (request) => {
            asked.push(request);
            return {};
          },
        },
      },
      ...answers,
    );
    rig.link.picture = pictureOf({ runs: [waiting("int_3", InteractionKind.HUMAN_DECISION)] });
    return { ...rig, asked };
  }

  test("shows the whole subject, asks, and decides with the session's capability", async () => {
    const { type, place, asked } = deciding("Publish");
    expect(await type("decide")).toBe("decided: Publish (release 1.2 · Publish?)");
    const [dialog] = place.asked;
    for (const part of [
      "release 1.2 · Publish these notes?",
      "# Notes\nall of them",
      "For: the editor",
    ]) {
      expect(dialog?.title).toContain(part);
    }
    expect(dialog?.title).toContain("A default applies at");
    expect(dialog?.options).toEqual(["Publish", "Drop it", "Change"]);
    expect(dialog?.signal).toBeInstanceOf(AbortSignal);
    expect(asked).toMatchObject([
      { interactionId: "int_3", choice: "yes", text: "", capability: "cap-1" },
    ]);
    expect(asked[0]?.command?.client).toBe("pi-user");
  });

  test("asks for the text of a choice until it has the right length", async () => {
    const { type, place, asked } = deciding("Change", "no", "far too long a text", "title");
    await type("decide int_3");
    expect(asked).toMatchObject([{ choice: "wish", text: "title" }]);
    expect(place.asked.map(({ method }) => method)).toEqual(["select", "input", "input", "input"]);
    expect(place.said).toContain("at least 3 characters; it has 2");
    expect(place.said).toContain("at most 9 characters; it has 19");
    expect(place.asked.every(({ signal }) => signal !== undefined)).toBe(true);
  });

  test("decides nothing when the user leaves", async () => {
    const { type, asked } = deciding(undefined);
    expect(await type("decide")).toContain("int_3 is still open");
    expect(asked).toEqual([]);
    const text = deciding("Change", undefined);
    expect(await text.type("decide")).toContain("still open");
    expect(text.asked).toEqual([]);
  });

  test("closes its dialog when somebody else decides", async () => {
    const { type, link, place, asked } = deciding();
    const done = type("decide");
    await until(() => place.asked.length === 1, { what: () => "the dialog" });
    link.show(pictureOf({ runs: [sessionRun()] }));
    expect(await done).toContain("int_3 is not open here any more");
    expect(asked).toEqual([]);
    expect(link.listeners).toBe(0);
  });

  test("closes its dialog and says nothing more when the session ends", async () => {
    const { type, place, shutdown } = deciding();
    const done = type("decide");
    await until(() => place.asked.length === 1, { what: () => "the dialog" });
    shutdown();
    await done;
    expect(place.notes.filter(({ type: kind }) => kind === "error")).toEqual([]);
  });

  test("takes no Enter key in a terminal that came before anybody could read", async () => {
    const { type, place, asked } = deciding("Publish", "No, ask again", "Drop it", "Yes");
    place.mode = "tui";
    expect(await type("decide")).toContain("decided: Drop it");
    expect(place.asked.map(({ options }) => options[0])).toEqual([
      "Publish",
      "No, ask again",
      "Publish",
      "No, ask again",
    ]);
    expect(asked).toMatchObject([{ choice: "no" }]);
  });

  test("asks which one when several runs wait", async () => {
    const { type, link, place, asked } = deciding("run_2 waiting: release 1.2", "Drop it");
    link.picture = pictureOf({
      runs: [
        waiting("int_1", InteractionKind.HUMAN_DECISION, "run_1"),
        waiting("int_3", InteractionKind.HUMAN_DECISION, "run_2"),
      ],
    });
    await type("decide");
    expect(place.asked[0]?.options).toHaveLength(2);
    expect(asked).toMatchObject([{ interactionId: "int_3", choice: "no" }]);
  });

  test("says what is missing: a request, or an attachment", async () => {
    const { type, link, place } = deciding("Publish");
    link.picture = pictureOf({});
    expect(await type("decide")).toContain("No run of this session waits for a decision");
    link.identity = {};
    expect(await type("decide int_3")).toContain("not attached");
    expect(place.notes.at(-1)?.type).toBe("error");
  });

  test("tells who was faster", async () => {
    const rig = commandRig(
      {
        interactions: {
          getInteraction: () => ({ interaction: DECISION }),
          answerDecision: () => {
            const message = "int_3 was answered by policy";
            throw refusal(Code.FailedPrecondition, { reason: Reason.INTERACTION_CLOSED, message });
          },
        },
      },
      "Publish",
    );
    expect(await rig.type("decide int_3")).toContain("answered by policy");
  });
});

describe("/workflow answer", () => {
  const question: Partial<Interaction> = {
    interactionId: "int_2",
    kind: InteractionKind.CHECKPOINT,
    summary: "Write the report?",
  };

  function answering(
    interaction: object,
    ...answers: (string | undefined)[]
  ): CommandRig & { asked: AnswerCheckpointRequest[]; refuse: { count: number } } {
    const asked: AnswerCheckpointRequest[] = [];
    const refuse = { count: 0 };
    const rig = commandRig(
      {
        runs: { getRun: () => ({ run: { summary: { interactionId: "int_2" } } }) },
        interactions: {
          getInteraction: () => ({ interaction }),
          answerCheckpoint: (request) => {
            asked.push(request);
            refuse.count -= 1;
            if (refuse.count < 0) return {};
            const fields = { reason: Reason.ANSWER_INVALID, message: "must be a number" };
            throw refusal(Code.InvalidArgument, fields);
          },
        },
      },
      ...answers,
    );
    return { ...rig, asked, refuse };
  }

  test("takes what was typed, as JSON or as text, and names no session", async () => {
    const { type, asked } = answering(question);
    expect(await type('answer int_2 {"write": true}')).toBe(
      'answered: {"write":true} (Write the report?)',
    );
    await type("answer int_2 yes, do");
    expect(asked.map(({ answer }) => valueJson(answer))).toEqual([{ write: true }, "yes, do"]);
    expect(asked[0]?.sessionId).toBe("");
  });

  test("takes what is no id for the answer to the only question", async () => {
    const { type, link, asked, place } = answering(question, undefined);
    link.picture = pictureOf({ runs: [waiting("int_0002", InteractionKind.CHECKPOINT)] });
    expect(await type("answer yes, do")).toBe("answered: yes, do (Write the report?)");
    await type('answer {"a":  1}');
    await type('answer "well" said');
    expect(asked.map(({ answer }) => valueJson(answer))).toEqual([
      "yes, do",
      { a: 1 },
      '"well" said',
    ]);
    expect(asked.map(({ interactionId }) => interactionId)).toEqual(["int_2", "int_2", "int_2"]);
    await type("answer 0002");
    expect(place.asked).toHaveLength(1);
    expect(asked).toHaveLength(3);
  });

  test("asks which question a bare answer is for", async () => {
    const { type, link, asked, place } = answering(question, "run_2 waiting: release 1.2");
    link.picture = pictureOf({
      runs: [
        waiting("int_1", InteractionKind.CHECKPOINT, "run_1"),
        waiting("int_2", InteractionKind.CHECKPOINT, "run_2"),
      ],
    });
    await type("answer yes");
    expect(place.asked[0]?.options).toHaveLength(2);
    expect(asked.map(({ answer }) => valueJson(answer))).toEqual(["yes"]);
  });

  test("offers the choices of the schema", async () => {
    const schema = jsonValue({ enum: ["blue", "green"] });
    const { type, asked, place } = answering({ ...question, schema }, "green");
    await type("answer run_1");
    expect(place.asked[0]?.options).toEqual(["blue", "green"]);
    expect(asked.map(({ answer }) => valueJson(answer))).toEqual(["green"]);
  });

  test("asks again when the host refuses what was typed", async () => {
    const { type, asked, place, refuse } = answering(question, "many", "3");
    refuse.count = 1;
    await type("answer int_2");
    expect(place.said).toContain("must be a number");
    expect(asked.map(({ answer }) => valueJson(answer))).toEqual(["many", 3]);
  });

  test("sends a decision and a model's step elsewhere", async () => {
    const decision = answering(DECISION);
    expect(await decision.type("answer int_3")).toContain("/workflow decide int_3");
    const step = answering({ interactionId: "int_4", kind: InteractionKind.AGENT });
    expect(await step.type("answer int_4")).toContain("for the model");
  });
});
