/**
 * A model that says what the test decides, behind the HTTP interface that Pi's
 * own provider speaks. Every request is kept, so a test can ask what the model
 * was shown and with which tools.
 *
 * A step is chosen by the first of these that has one:
 * 1. the queue (`enqueue`), for errors and holds at a known moment;
 * 2. the directive `#mock [step, ...]` in the newest user-role text, of which the
 *    step numbered by the answers since is taken: it survives reopen and retries;
 * 3. the test's own function (`respond`), which decides by what the request says;
 * 4. an echo.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { Latches } from "./latches.ts";
import { readRequest } from "./model-request.ts";
import type { ModelRequest } from "./model-request.ts";
import { answer } from "./model-stream.ts";
import { until } from "./until.ts";

export interface MockToolCall {
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** What the model does with one request; text and tool calls go together, a status stands alone. */
export interface MockStep {
  readonly text?: string;
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Several calls in one answer; beside `tool` or in its place. */
  readonly calls?: readonly MockToolCall[];
  /** The answer begins, its text comes, and then it waits until `release` of this name. */
  readonly hold?: string;
  /** An HTTP error in place of an answer. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the error; by default an error object as providers send it. */
  readonly body?: string;
  /** The connection breaks after the text. */
  readonly cut?: boolean;
  /** Why the answer ends; by default what its content implies. */
  readonly finish?: "stop" | "length" | "tool_calls" | "content_filter";
  /** Tokens the provider says the request had; decides about Pi's own compaction. */
  readonly promptTokens?: number;
}

/** Decides by content; undefined leaves the request to the echo, a string is a text. */
export type Respond = (request: ModelRequest) => MockStep | string | undefined;

export interface MockModel {
  readonly baseUrl: string;
  readonly requests: readonly ModelRequest[];
  respond(decide: Respond | undefined): void;
  enqueue(...steps: readonly (MockStep | string)[]): void;
  /** Steps that nobody has asked for; a test that queues should end with none. */
  readonly queued: number;
  /** Lets the answer held under this name go on; also one that has yet to come. */
  release(name: string): void;
  /** Resolves once an answer is held under this name. */
  held(name: string): Promise<ModelRequest>;
  /** Resolves with the first request, old or new, that fits. */
  request(fits: (request: ModelRequest) => boolean, timeoutMs?: number): Promise<ModelRequest>;
  close(): Promise<void>;
}

type CleanUp = (run: () => Promise<void> | void) => void;

/** Starts a model that is closed after the test. */
export async function startMockModel(cleanUp: CleanUp = onTestFinished): Promise<MockModel> {
  const model = new Model();
  await model.listen();
  cleanUp(() => model.close());
  return model;
}

class Model implements MockModel {
  readonly requests: ModelRequest[] = [];
  readonly #queue: (MockStep | string)[] = [];
  readonly #latches = new Latches();
  readonly #server = createServer((request, response) => {
    // What goes wrong in here is a fault of the test: it is shown to Pi, and with it to the test.
    this.#serve(request, response).catch((error: unknown) => {
      response.writeHead(400).end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  #respond: Respond | undefined;

  get baseUrl(): string {
    // A listening TCP server has an address of this kind.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  get queued(): number {
    return this.#queue.length;
  }

  respond(decide: Respond | undefined): void {
    this.#respond = decide;
  }

  enqueue(...steps: readonly (MockStep | string)[]): void {
    this.#queue.push(...steps);
  }

  release(name: string): void {
    this.#latches.open(name);
  }

  async held(name: string): Promise<ModelRequest> {
    const find = (): ModelRequest | undefined => this.requests.find((each) => each.heldAt === name);
    return await until(find, { what: () => `an answer held at "${name}"` });
  }

  async request(
    fits: (request: ModelRequest) => boolean,
    timeoutMs?: number,
  ): Promise<ModelRequest> {
    return await until(() => this.requests.find(fits), {
      timeoutMs,
      what: () =>
        `a fitting request; the newest texts of all ${this.requests.length}:\n${this.#texts()}`,
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    this.#latches.openAll();
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  #texts(): string {
    return this.requests.map(({ number, lastUserText }) => `${number}: ${lastUserText}`).join("\n");
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, this.requests.length + 1);
    this.requests.push(request);
    const step = this.#choose(request);
    await answer(response, request, { step, held: (name) => this.#hold(request, response, name) });
  }

  #choose(request: ModelRequest): MockStep {
    const step =
      this.#queue.shift() ??
      directive(request)[request.answersSince] ??
      this.#respond?.(request) ??
      `echo: ${request.lastUserText.slice(0, 80)}`;
    return typeof step === "string" ? { text: step } : step;
  }

  /** Ends also when the reader has gone: an aborted request would hold its handler for ever. */
  async #hold(request: ModelRequest, response: ServerResponse, name: string): Promise<void> {
    request.heldAt = name;
    const gone = new Promise((resolve) => void response.once("close", resolve));
    await Promise.race([this.#latches.passed(name), gone]);
    request.heldAt = undefined;
  }
}

/** The steps of the newest user-role text; they reach to its last bracket. */
function directive(request: ModelRequest): readonly (MockStep | string)[] {
  const text = request.lastUserText;
  const start = text.indexOf("#mock [");
  if (start < 0) return [];
  // Written by a test; what is no step fails in its answer.
  return JSON.parse(text.slice(start + "#mock ".length, text.lastIndexOf("]") + 1)) as (
    | MockStep
    | string
  )[];
}
