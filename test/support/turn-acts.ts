/** What a session tells of the newest message of a request, through the operations. */
import { reportBranch } from "../../src/host/operations/branch.ts";
import type { BranchReport } from "../../src/host/operations/branch.ts";
import { offerNext } from "../../src/host/operations/session-rows.ts";
import { openTurn, settleTurn } from "../../src/host/operations/turns.ts";
import type { TurnEnding } from "../../src/host/operations/turns.ts";
import type { MessageRecord } from "../../src/host/records-sessions.ts";
import { SESSION } from "./session-scenes.ts";
import type { TestRig } from "./test-host.ts";

export function newest(rig: TestRig, interactionId: string): MessageRecord {
  const message = rig.reader.messages.newestOfInteraction(interactionId);
  if (message === undefined) throw new Error(`nothing asks for ${interactionId}`);
  return message;
}

/** The message is handed over, stands on the branch, and its turn has begun. */
export async function work(rig: TestRig, interactionId: string): Promise<MessageRecord> {
  const { messageId, sessionId } = newest(rig, interactionId);
  await offer(rig, sessionId);
  await rig.sound(openTurn(rig.host, { sessionId, messageId }));
  await report(rig, {
    sessionId,
    idle: false,
    turn: { messageId, running: true },
    messages: [{ messageId, entryId: "entry" }],
  });
  return newest(rig, interactionId);
}

export function offer(rig: TestRig, sessionId = SESSION): Promise<boolean> {
  return rig.sound(offerNext(rig.host, sessionId));
}

export function report(rig: TestRig, change: Partial<BranchReport>): Promise<void> {
  const whole = { sessionId: SESSION, messages: [], idle: true, written: true, ...change };
  return rig.sound(reportBranch(rig.host, whole));
}

export function end(
  rig: TestRig,
  { messageId, sessionId }: MessageRecord,
  outcome: TurnEnding["outcome"],
  change: Partial<TurnEnding> = {},
): Promise<void> {
  const whole = { sessionId, messageId, outcome, replyText: "", replyWhole: false, ...change };
  return rig.sound(settleTurn(rig.host, whole));
}

/** A turn on the newest message, from its beginning to its end. */
export async function turn(
  rig: TestRig,
  interactionId: string,
  outcome: TurnEnding["outcome"],
  change: Partial<TurnEnding> = {},
): Promise<void> {
  await end(rig, await work(rig, interactionId), outcome, change);
}
