/** Records in and out of a Pi in RPC mode, and its end. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { RpcExtensionUIResponse, RpcResponse } from "@earendil-works/pi-coding-agent";
import { LineSplitter } from "./pi-records.ts";
import type { PiExit, PiRecord } from "./pi-records.ts";

const RECENT = 12;

type Command = { readonly type: string } & Readonly<Record<string, unknown>>;
type Incoming = PiRecord | (RpcResponse & { readonly data?: unknown });

export class RpcPipe {
  readonly log: PiRecord[] = [];
  readonly exited: Promise<PiExit>;
  #exit: PiExit | undefined;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #calls = new Map<string, PromiseWithResolvers<unknown>>();
  readonly #listeners: ((record: PiRecord) => void)[] = [];
  readonly #errors: Buffer[] = [];
  #callCount = 0;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    const lines = new LineSplitter();
    child.stdout.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) this.#read(line);
    });
    child.stderr.on("data", (chunk: Buffer) => this.#errors.push(chunk));
    // A Pi that ends closes its input under our hands; its exit tells the story.
    child.stdin.on("error", () => undefined);
    this.exited = new Promise((resolve) => {
      child.once("close", (code, signal) => resolve(this.#ended({ code, signal })));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stderr(): string {
    return Buffer.concat(this.#errors).toString("utf8");
  }

  /** Undefined while it runs. */
  get exit(): PiExit | undefined {
    return this.#exit;
  }

  onRecord(listener: (record: PiRecord) => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves with the data of the response. */
  async call(command: Command): Promise<unknown> {
    if (this.#exit !== undefined) throw ended(command.type, this.#exit);
    const id = `call-${(this.#callCount += 1)}`;
    const call = Promise.withResolvers<unknown>();
    this.#calls.set(id, call);
    this.#write({ ...command, id });
    return await call.promise.catch((error: unknown) => {
      throw new Error(`${command.type}: ${(error as Error).message}`, { cause: error });
    });
  }

  send(response: RpcExtensionUIResponse): void {
    this.#write(response);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#exit === undefined) this.#child.kill(signal);
  }

  /** The newest records, for the message of a wait that was in vain. */
  recent(): string {
    const lines = this.log
      .filter(({ type }) => type !== "message_update")
      .slice(-RECENT)
      .map((record) => JSON.stringify(record).slice(0, 200));
    return [`stderr: ${this.stderr}`, "newest records:", ...lines].join("\n");
  }

  #write(record: object): void {
    this.#child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  #read(line: string): void {
    // Pi's stdout carries its records alone in this mode.
    const record = JSON.parse(line) as Incoming;
    if (record.type === "response") return this.#finish(record);
    this.log.push(record);
    for (const listener of this.#listeners) listener(record);
  }

  #finish(response: RpcResponse & { readonly data?: unknown }): void {
    const call = this.#calls.get(response.id ?? "");
    this.#calls.delete(response.id ?? "");
    if (response.success) call?.resolve(response.data);
    else call?.reject(new Error(response.error));
  }

  #ended(how: Pick<PiExit, "code" | "signal">): PiExit {
    const exit = { ...how, stderr: this.stderr };
    this.#exit = exit;
    for (const call of this.#calls.values()) call.reject(ended("the answer", exit));
    this.#calls.clear();
    return exit;
  }
}

function ended(what: string, { code, signal, stderr }: PiExit): Error {
  return new Error(`Pi ended before ${what}: code ${code}, signal ${signal}, stderr: ${stderr}`);
}
