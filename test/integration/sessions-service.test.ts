import { ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { rejectionOf } from "../../src/client/rejection.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { MessageKind, MessageReason } from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { TurnOutcome } from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { diagnose } from "../../src/host/diagnosis.ts";
import { AGENT, SESSION, shown, told } from "../support/session-scenes.ts";
import { startSessions } from "../support/session-rig.ts";
import type { SessionRig } from "../support/session-rig.ts";
import { rejected } from "../support/handler-rig.ts";

async function asking({ rig }: SessionRig): Promise<{ runId: string; interactionId: string }> {
  const worker = await shown(rig, "think");
  return { runId: worker.runId, interactionId: await worker.ask(AGENT) };
}

test("a step is shown, its turn is followed, and the model is reminded when it ends without a result", async () => {
  const all = await startSessions();
  const { rig } = all;
  const pi = all.pi();
  const first = await pi.attach();
  expect(first).toMatchObject({ holder: true, coordinatorEpoch: 1n, runs: [] });

  const { runId, interactionId } = await asking(all);
  const step = await pi.take();
  expect(step).toMatchObject({
    kind: MessageKind.STEP,
    reason: MessageReason.FIRST,
    runId,
    interactionId,
    startsTurn: true,
  });
  expect(step.text).toContain(interactionId);
  await pi.until(({ openTurn }) => openTurn === step.messageId);
  expect(rig.reader.messages.get(step.messageId)).toMatchObject({
    status: "delivered",
    entryId: "entry-1",
  });

  await pi.settle(step.messageId, TurnOutcome.COMPLETED);
  const reminder = await pi.shown();
  expect(reminder).toMatchObject({ reason: MessageReason.REMINDER, interactionId });
  expect(told(rig, runId)).toEqual(["step first delivered", "step reminder offered"]);
  expect(diagnose(rig.reader)).toEqual([]);
  expect(all.faults).toEqual([]);
});
