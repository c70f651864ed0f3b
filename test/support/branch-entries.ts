/** Entries of a Pi session, as much of them as the extension reads. */
import type { BranchEntry } from "../../src/extension/branch.ts";
import type { MessageDetails } from "../../src/extension/message-details.ts";

export const entry = (one: BranchEntry): BranchEntry => one;

export function user(id: string, text = "hello"): BranchEntry {
  const message = { role: "user", content: [{ type: "text", text }] };
  return { type: "message", id, message };
}

export function assistant(
  id: string,
  text: string,
  fields: { readonly stopReason?: string; readonly errorMessage?: string } = {},
): BranchEntry {
  const content = text === "" ? [] : [{ type: "text", text }];
  const message = { role: "assistant", content, stopReason: "stop", ...fields };
  return { type: "message", id, message };
}

export function own(id: string, messageId: string, sessionId: string): BranchEntry {
  const details = detailsOf({ id: messageId, sessionId });
  return { type: "custom_message", id, customType: "workflow", details };
}

export function detailsOf(
  fields: Partial<MessageDetails> & Pick<MessageDetails, "id">,
): MessageDetails {
  return {
    sessionId: "session-1",
    kind: "step",
    reason: "first",
    runId: "run_1",
    runTitle: "Notes",
    workflow: "notes",
    interactionId: "int_1",
    interactionKind: "agent",
    node: "draft",
    summary: "Write the notes",
    choices: [],
    deadlineAt: "",
    runStatus: "",
    ...fields,
  };
}
