import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { InteractionKind } from "../../../src/gen/piworkflows/common/v1/interaction_pb.ts";
import {
  AttemptResultSchema,
  OpenInteractionSchema,
} from "../../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import type { OpenInteraction } from "../../../src/gen/piworkflows/worker/v1/endings_pb.ts";
import type { LimitedRequest } from "../../../src/worker/engine/run-link.ts";
import { attemptResult, wireGraph } from "../../../src/worker/to-wire.ts";
import { wireInteraction } from "../../../src/worker/wire-interaction.ts";
import { compute, defineWorkflow } from "../../../src/workflow/index.ts";

/** As the host reads it. */
function sent(request: LimitedRequest): OpenInteraction {
  const message = create(OpenInteractionSchema, wireInteraction(request, [{ path: "/w.ts" }]));
  return fromBinary(OpenInteractionSchema, toBinary(OpenInteractionSchema, message));
}

const base = { summary: "one line", requestJson: "null" };

describe("a request on the wire", () => {
  test("tells what its node left out from what it left empty", () => {
    const bare = sent({ kind: "agent", ...base, prompt: "Do it." });
    expect(bare).toMatchObject({
      kind: InteractionKind.AGENT,
      summary: "one line",
      prompt: "Do it.",
      expectedOutput: "",
      replyCharsMax: 0,
      newSources: [{ path: "/w.ts" }],
    });
    expect(bare.allowedTools).toBeUndefined();
    expect(bare.model).toBeUndefined();
    expect(bare.timeoutMs).toBeUndefined();
    const stated = sent({
      kind: "agent",
      ...base,
      prompt: "Do it.",
      expectedOutput: "an object",
      schemaJson: "{}",
      allowedTools: [],
      model: { model: "m", args: ["-x"] },
      timeoutMs: 5,
    });
    expect(stated.allowedTools?.names).toEqual([]);
    expect(stated.model).toMatchObject({ provider: "", model: "m", args: ["-x"] });
    expect(stated.timeoutMs).toBe(5n);
    expect(Buffer.from(stated.schemaJson).toString()).toBe("{}");
  });

  test("carries the longest reply that is taken", () => {
    expect(sent({ kind: "reply", ...base, prompt: "Say it.", replyCharsMax: 9 })).toMatchObject({
      kind: InteractionKind.REPLY,
      replyCharsMax: 9,
    });
  });

  test("carries what a person may choose, and what holds when nobody does", () => {
    const input = { name: "why", prompt: "Why?", minLength: 0, maxLength: 9 };
    const asked = sent({
      kind: "human_decision",
      ...base,
      audience: "operator",
      choices: [
        { id: "yes", label: "Yes" },
        { id: "no", label: "No", input },
      ],
      onTimeout: { afterMs: 7, responseJson: '{"choice":"yes"}' },
    });
    expect(asked).toMatchObject({
      kind: InteractionKind.HUMAN_DECISION,
      audience: "operator",
      choices: [
        { id: "yes", label: "Yes" },
        { id: "no", label: "No", input },
      ],
      onTimeout: { afterMs: 7n },
    });
    expect(asked.choices[0]?.input).toBeUndefined();
    expect(Buffer.from(asked.onTimeout?.responseJson ?? []).toString()).toBe('{"choice":"yes"}');
    expect(sent({ kind: "checkpoint", ...base }).kind).toBe(InteractionKind.CHECKPOINT);
  });
});

describe("what else a worker tells", () => {
  test("is the notice of a node, together with its end", () => {
    const notification = { text: "done", final: true };
    const end = create(
      AttemptResultSchema,
      attemptResult({ kind: "ok", outputJson: "1", notification }),
    );
    expect(end.notification).toMatchObject(notification);
    const plain = create(AttemptResultSchema, attemptResult({ kind: "ok", outputJson: "1" }));
    expect(plain.notification).toBeUndefined();
  });

  test("is how the end of the run is to be told, where the author says", () => {
    const nodes = { a: compute({ run: () => 1 }) };
    const plain = defineWorkflow({ name: "w", startAt: "a", nodes });
    const card = defineWorkflow({ name: "w", startAt: "a", nodes, result: "card" });
    expect(wireGraph(plain.graph).result).toBe("");
    expect(wireGraph(card.graph).result).toBe("card");
  });
});
