import { fromJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { Outcome } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { InteractionStatus } from "../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import { command, rejected, startHandlers } from "../support/handler-rig.ts";

const value = (json: JsonValue): Value => fromJson(ValueSchema, json);

describe("AnswerCheckpoint", () => {
  const SCHEMA = JSON.stringify({ type: "object", required: ["ship"] });

  test("takes what fits the stored schema and nothing else", async () => {
    const { interactions, rig } = startHandlers();
    const worker = await rig.running("ask");
    const interactionId = await worker.ask({ schemaJson: SCHEMA, requestJson: '{"n":1}' });
    const asked = await interactions.getInteraction({ interactionId });
    expect(asked.interaction?.request).toEqual(value({ n: 1 }));
    const wrong = interactions.answerCheckpoint({
      command: command("k"),
      interactionId,
      answer: value({}),
    });
    expect(await rejected(wrong)).toMatchObject({
      reason: Reason.ANSWER_INVALID,
      message: 'answer must have the property "ship"',
      runId: worker.run.runId,
      problems: [{ place: "answer", message: 'must have the property "ship"' }],
    });
    expect(worker.run.status).toBe("waiting");
    const answer = value({ ship: true });
    const { receipt, interaction } = await interactions.answerCheckpoint({
      command: command("k"),
      interactionId,
      answer,
    });
    expect(receipt?.outcome).toBe(Outcome.COMMITTED);
    expect(interaction).toMatchObject({ status: InteractionStatus.ACCEPTED, answeredBy: "test" });
    expect(worker.run.status).toBe("queued");
  });

  test("gives the same answer again its receipt and another one the state", async () => {
    const { interactions, rig } = startHandlers();
    const worker = await rig.running("ask");
    const interactionId = await worker.ask({ schemaJson: SCHEMA });
    const answer = value({ ship: 1, by: 2 });
    await interactions.answerCheckpoint({ command: command(), interactionId, answer });
    const same = value({ by: 2, ship: 1 });
    const again = await interactions.answerCheckpoint({
      command: command(),
      interactionId,
      answer: same,
    });
    expect(again.receipt?.outcome).toBe(Outcome.ADOPTED);
    // It does not fit either, but what the caller must know is that it comes too late.
    const other = interactions.answerCheckpoint({ command: command(), interactionId });
    expect(await rejected(other)).toMatchObject({
      reason: Reason.INTERACTION_CLOSED,
      state: "accepted",
    });
  });
});
