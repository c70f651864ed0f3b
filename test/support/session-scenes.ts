/** Runs that a Pi session shows, as far as the host's rows know of it. */
import { answerDecision } from "../../src/host/operations/decisions.ts";
import type { InteractionRequest } from "../../src/host/operations/parking.ts";
import { submitResult } from "../../src/host/operations/submissions.ts";
import type { SubmissionReceipt } from "../../src/host/operations/submissions.ts";
import type {
  ChoiceRecord,
  InteractionRecord,
  MessageRecord,
  SubmissionRecord,
} from "../../src/host/records-sessions.ts";
import { system } from "../../src/host/store/doors.ts";
import type { CommandResult } from "../../src/host/store/doors.ts";
import type { TestRig } from "./test-host.ts";
import type { TestWorker } from "./test-worker.ts";

export const SESSION = "5e551011-0000-4000-8000-000000000001";

export const CHOICES: readonly ChoiceRecord[] = [
  { id: "yes", label: "Publish it" },
  {
    id: "no",
    label: "Write it again",
    input: { name: "why", prompt: "What is missing?", minLength: 3, maxLength: 20 },
  },
];

export const AGENT = {
  kind: "agent",
  summary: "Write the notes",
  prompt: "Write release notes.",
  expectedOutput: "an object with title",
} as const satisfies Partial<InteractionRequest>;
export const REPLY = {
  kind: "reply",
  summary: "Sum it up",
  prompt: "Sum it up.",
} as const satisfies Partial<InteractionRequest>;
export const DECISION = {
  kind: "human_decision",
  summary: "Publish?",
  requestJson: '{"title":"Publish?","subject":{"draft":1}}',
  audience: "operator",
  choices: CHOICES,
} as const satisfies Partial<InteractionRequest>;

/** The host has seen the session. */
export function openSession(rig: TestRig, sessionId = SESSION): Promise<void> {
  return system(rig.host, "attach", (tx) => {
    if (tx.sessions.get(sessionId) !== undefined) return;
    const at = rig.at.clock.now();
    tx.put.session({
      sessionId,
      cwd: "/project",
      sessionFile: "/sessions/one.jsonl",
      coordinatorEpoch: 0,
      status: "attached",
      heldCount: 0,
      createdAt: at,
      updatedAt: at,
    });
  });
}

/** A worker at a node of a run that the session shows. */
export async function shown(rig: TestRig, node: string): Promise<TestWorker> {
  await openSession(rig);
  return rig.running(node, { originSession: SESSION });
}

/** A run of the session that waits for its model. */
export async function askingModel(
  rig: TestRig,
  request: Partial<InteractionRequest> = {},
): Promise<{ readonly runId: string; readonly interactionId: string }> {
  const worker = await shown(rig, "think");
  const interactionId = await worker.ask({ ...AGENT, ...request });
  await rig.exit(worker.proof.workerId);
  return { runId: worker.runId, interactionId };
}

export function submit(
  rig: TestRig,
  interactionId: string,
  value: unknown = { title: "one" },
  options: { readonly key?: string; readonly sessionId?: string } = {},
): Promise<CommandResult<SubmissionReceipt>> {
  const { sessionId } = options;
  const asked = rig.asked("SubmitResult", {
    fields: { interactionId, value },
    ...(options.key === undefined ? {} : { key: options.key }),
  });
  const request = { interactionId, valueJson: JSON.stringify(value) };
  const named = sessionId === undefined ? {} : { sessionId };
  return rig.sound(submitResult(rig.host, asked, { ...request, ...named }));
}

export function choose(
  rig: TestRig,
  interactionId: string,
  choice: string,
  text = "",
): Promise<CommandResult> {
  const asked = rig.asked("AnswerDecision", { fields: { interactionId, choice, text } });
  return rig.sound(answerDecision(rig.host, asked, { interactionId, choice, text }));
}

/** What was submitted is with a worker that has attached. */
export async function validating(
  rig: TestRig,
  request: Partial<InteractionRequest> = {},
): Promise<{ readonly worker: TestWorker; readonly interactionId: string }> {
  const { runId, interactionId } = await askingModel(rig, request);
  await submit(rig, interactionId);
  return { worker: await rig.relaunch(runId), interactionId };
}

export function interaction(rig: TestRig, interactionId: string): InteractionRecord {
  const found = rig.reader.interactions.get(interactionId);
  if (found === undefined) throw new Error(`no interaction ${interactionId}`);
  return found;
}

export function newestSubmission(rig: TestRig, interactionId: string): SubmissionRecord {
  const found = rig.reader.submissions.newest(interactionId);
  if (found === undefined) throw new Error(`nothing was submitted for ${interactionId}`);
  return found;
}

/** Messages of a run in order. */
export function messages(rig: TestRig, runId: string): readonly MessageRecord[] {
  return rig.reader.messages.ofRun(runId, 100);
}

/** Kind, reason and status of each message of a run. */
export function told(rig: TestRig, runId: string): readonly string[] {
  return messages(rig, runId).map(({ kind, reason, status }) => `${kind} ${reason} ${status}`);
}

export function textOf(rig: TestRig, message: MessageRecord | undefined): string {
  if (message === undefined) throw new Error("there is no such message");
  return JSON.parse(rig.reader.values.read(message.text)) as string;
}

/** The newest message of the request stands in the session; a turn works on it, if it starts one. */
export function deliver(rig: TestRig, interactionId: string): Promise<string> {
  return system(rig.host, "delivered", (tx) => {
    const at = rig.at.clock.now();
    const message = tx.messages.newestOfInteraction(interactionId);
    if (message === undefined) throw new Error(`no message asks for ${interactionId}`);
    const { messageId, sessionId, runId } = message;
    tx.put.messageChange(messageId, { status: "delivered", deliveredAt: at, entryId: "entry" });
    if (message.startsTurn) {
      tx.put.turn({ messageId, sessionId, runId, interactionId, status: "open", openedAt: at });
    }
    return messageId;
  });
}

/** The turn's end as a row, without what the host makes of it. */
export function endTurn(rig: TestRig, messageId: string): Promise<void> {
  return system(rig.host, "turn", (tx) => {
    tx.put.turnChange(messageId, { status: "completed", closedAt: rig.at.clock.now() });
  });
}
