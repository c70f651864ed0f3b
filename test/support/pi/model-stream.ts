/** One answer of the model, as a provider streams it. */
import type { ServerResponse } from "node:http";
import type { MockStep, MockToolCall } from "./mock-model.ts";
import type { ModelRequest } from "./model-request.ts";

const MODEL = "scripted";
const PROMPT_TOKENS = 10;
const ANSWER_TOKENS = 5;

export interface Answer {
  readonly step: MockStep;
  /** Resolves when the hold of this name has ended. */
  readonly held: (name: string) => Promise<void>;
}

export async function answer(
  response: ServerResponse,
  request: ModelRequest,
  { step, held }: Answer,
): Promise<void> {
  if (step.status !== undefined) return refuse(response, step.status, step);
  const stream = new Stream(response, `answer-${request.number}`);
  stream.delta({ role: "assistant", content: "" });
  if (step.text !== undefined) stream.delta({ content: step.text });
  if (step.hold !== undefined) await held(step.hold);
  if (response.destroyed) return;
  if (step.cut === true) return await stream.cut();
  const calls = toolCalls(step);
  for (const [index, call] of calls.entries()) stream.call(index, call);
  stream.end(step.finish ?? (calls.length > 0 ? "tool_calls" : "stop"), step.promptTokens);
}

function refuse(response: ServerResponse, status: number, { headers, body }: MockStep): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  const message = `the model answers ${status}`;
  response.end(body ?? JSON.stringify({ error: { message, type: "mock", code: String(status) } }));
}

function toolCalls({ tool, args, calls = [] }: MockStep): readonly MockToolCall[] {
  if (tool === undefined) return calls;
  return [{ tool, ...(args === undefined ? {} : { args }) }, ...calls];
}

class Stream {
  readonly #response: ServerResponse;
  readonly #id: string;

  constructor(response: ServerResponse, id: string) {
    this.#response = response;
    this.#id = id;
    response.writeHead(200, { "content-type": "text/event-stream" });
  }

  delta(delta: Readonly<Record<string, unknown>>): void {
    this.#chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  }

  /** Call ids are used once only, as providers promise. */
  call(index: number, { tool, args = {} }: MockToolCall): void {
    const call = { name: tool, arguments: JSON.stringify(args) };
    const id = `${this.#id}-call-${index}`;
    this.delta({ tool_calls: [{ index, id, type: "function", function: call }] });
  }

  end(reason: string, promptTokens = PROMPT_TOKENS): void {
    const tokens = { prompt_tokens: promptTokens, completion_tokens: ANSWER_TOKENS };
    this.#chunk({
      choices: [{ index: 0, delta: {}, finish_reason: reason }],
      usage: { ...tokens, total_tokens: promptTokens + ANSWER_TOKENS },
    });
    this.#response.end("data: [DONE]\n\n");
  }

  /** Breaks the connection once what was written has left. */
  async cut(): Promise<void> {
    await new Promise((resolve) => this.#response.write(":\n\n", resolve));
    this.#response.destroy();
  }

  #chunk(fields: Readonly<Record<string, unknown>>): void {
    const head = { id: this.#id, object: "chat.completion.chunk", created: 0, model: MODEL };
    this.#response.write(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
  }
}
