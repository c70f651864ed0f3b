/** What Pi asked the model for, in the shape tests ask about. */
import type { IncomingMessage } from "node:http";

export interface ModelMessage {
  readonly role: string;
  readonly text: string;
  /** Tools an assistant message called. */
  readonly calls: readonly string[];
}

export interface ModelRequest {
  /** Its place among all requests of this model, from 1. */
  readonly number: number;
  readonly messages: readonly ModelMessage[];
  /** Names of the tools the model was offered. */
  readonly tools: readonly string[];
  /** All of the body, for what the fields above leave out. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The newest text in the user's role: typed by the user, or a custom message. */
  readonly lastUserText: string;
  /** How many answers the model has given since that text. */
  readonly answersSince: number;
  /** The newest message, whoever it is from: after a tool call, its result. */
  readonly last: ModelMessage;
  /** Name of the hold this answer waits in now. */
  heldAt: string | undefined;
}

interface WireMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
}

interface WireBody {
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export async function readRequest(
  incoming: IncomingMessage,
  number: number,
): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  // Pi's provider for this interface writes it.
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as WireBody;
  const messages = body.messages.map(toMessage);
  const user = messages.findLastIndex(({ role }) => role === "user");
  const last = messages.at(-1);
  if (last === undefined) throw new Error("a request without messages");
  return {
    number,
    messages,
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    body: { ...body },
    lastUserText: messages[user]?.text ?? "",
    answersSince: messages.slice(user + 1).filter(({ role }) => role === "assistant").length,
    last,
    heldAt: undefined,
  };
}

function toMessage({ role, content, tool_calls: calls }: WireMessage): ModelMessage {
  const parts = typeof content === "string" ? [{ text: content }] : (content ?? []);
  return {
    role,
    text: parts.map(({ text }) => text ?? "").join(""),
    calls: (calls ?? []).map((call) => call.function.name),
  };
}
