/** Drives a real `pi --mode rpc`: what a program between a user and Pi would do. */
import type { RpcSessionState, SessionEntry } from "@earendil-works/pi-coding-agent";
import { onTestFinished } from "vitest";
import { launchPi } from "./pi-launch.ts";
import type { LaunchOptions } from "./pi-launch.ts";
import { expectCleanEnd } from "./pi-process-check.ts";
import type { RpcPipe } from "./rpc-pipe.ts";
import { isDialog } from "./pi-records.ts";
import type {
  CommandName,
  Data,
  Dialog,
  Fields,
  PiExit,
  PiRecord,
  RecordOf,
} from "./pi-records.ts";
import { until } from "./until.ts";

/** The Escape key in a dialog. */
export const CANCEL = { cancelled: true } as const;
/** The answer of a person: a choice or a text, yes or no, or the Escape key. */
export type DialogAnswer = string | boolean | typeof CANCEL;

export interface WaitOptions {
  /** Records before this place in the log do not count; see `mark`. */
  readonly since?: number;
  readonly timeoutMs?: number;
}

export type CustomMessage = Extract<SessionEntry, { type: "custom_message" }>;

type CleanUp = (run: () => Promise<void> | void) => void;

export interface PiOptions extends LaunchOptions {
  readonly cleanUp?: CleanUp;
}

/**
 * Starts a Pi and waits until its extensions have seen `session_start`. After
 * the test it is told to quit, unless the test has ended it, and then it must
 * have ended well: exit code 0, nothing on stderr, no failed extension.
 */
export async function startPi(options: PiOptions): Promise<Pi> {
  const { cleanUp = onTestFinished } = options;
  const pi = new Pi(launchPi(options));
  cleanUp(() => pi.finish());
  await pi.state();
  return pi;
}

export class Pi {
  readonly #pipe: RpcPipe;
  #endedByTest = false;
  #dialogs: ((dialog: Dialog) => DialogAnswer | undefined) | undefined;

  constructor(pipe: RpcPipe) {
    this.#pipe = pipe;
    pipe.onRecord((record) => {
      const answer = isDialog(record) ? this.#dialogs?.(record) : undefined;
      // The handler has just asked for this very dialog.
      if (answer !== undefined) this.answer(record as Dialog, answer);
    });
  }

  get pid(): number {
    return this.#pipe.pid;
  }

  /** Everything Pi has said, except the responses to calls. */
  get log(): readonly PiRecord[] {
    return this.#pipe.log;
  }

  get exited(): Promise<PiExit> {
    return this.#pipe.exited;
  }

  get stderr(): string {
    return this.#pipe.stderr;
  }

  /** One command; rejects when Pi refuses it or ends before it has answered. */
  async call<Name extends CommandName>(
    ...[type, fields]: keyof Fields<Name> extends never
      ? [type: Name]
      : [type: Name, fields: Fields<Name>]
  ): Promise<Data<Name>> {
    // The response to a command of this type carries the data of this type.
    return (await this.#pipe.call({ ...fields, type })) as Data<Name>;
  }

  async state(): Promise<RpcSessionState> {
    return await this.call("get_state");
  }

  /**
   * What the user types and sends. Says what Pi made of it: at once, but a slash
   * command has first to end, so its dialogs must be answered meanwhile.
   */
  async prompt(message: string): Promise<"started" | "queued" | "handled"> {
    // Without a behaviour Pi refuses a prompt while an extension's own turn runs.
    const data = await this.call("prompt", { message, streamingBehavior: "followUp" });
    return data.disposition;
  }

  /** Prompts and waits until nothing more happens by itself. */
  async ask(message: string, timeoutMs?: number): Promise<RecordOf<"agent_settled">> {
    const since = this.mark();
    if ((await this.prompt(message)) === "handled") {
      throw new Error(`"${message}" was handled by a command: no turn of its own will settle`);
    }
    return await this.settled(1, { since, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  }

  /** The place in the log from which later records count. */
  mark(): number {
    return this.log.length;
  }

  async waitFor<Type extends PiRecord["type"]>(
    type: Type,
    fits: (record: RecordOf<Type>) => boolean = () => true,
    options: WaitOptions = {},
  ): Promise<RecordOf<Type>> {
    const find = (): RecordOf<Type> | undefined =>
      this.all(type, options.since).find((record) => fits(record));
    return await this.#wait(find, `a fitting ${type}`, options);
  }

  /** Waits until Pi has settled this often since the mark; turns of extensions count. */
  async settled(count: number, options: WaitOptions = {}): Promise<RecordOf<"agent_settled">> {
    const find = (): RecordOf<"agent_settled"> | undefined =>
      this.all("agent_settled", options.since)[count - 1];
    return await this.#wait(find, `${count} times agent_settled`, options);
  }

  all<Type extends PiRecord["type"]>(type: Type, since = 0): readonly RecordOf<Type>[] {
    const fits = (record: PiRecord): record is RecordOf<Type> => record.type === type;
    return this.log.slice(since).filter(fits);
  }

  /** All entries of the session, abandoned branches too. */
  async entries(): Promise<readonly SessionEntry[]> {
    return (await this.call("get_entries", {})).entries;
  }

  /** The entries of the active branch, the oldest first. */
  async branch(): Promise<readonly SessionEntry[]> {
    const { entries, leafId } = await this.call("get_entries", {});
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    const branch: SessionEntry[] = [];
    for (let at = byId.get(leafId ?? ""); at !== undefined; at = byId.get(at.parentId ?? "")) {
      branch.unshift(at);
    }
    return branch;
  }

  /** Custom messages of this type on the active branch, the oldest first. */
  async customMessages(customType: string): Promise<readonly CustomMessage[]> {
    const branch = await this.branch();
    return branch.filter(
      (entry): entry is CustomMessage =>
        entry.type === "custom_message" && entry.customType === customType,
    );
  }

  /** The newest text an extension has put in the status line under this key. */
  status(key: string): string | undefined {
    return this.#ui("setStatus", (record) => record.statusKey === key)?.statusText;
  }

  /** The newest lines an extension has put in the widget of this key. */
  widget(key: string): readonly string[] | undefined {
    return this.#ui("setWidget", (record) => record.widgetKey === key)?.widgetLines;
  }

  /** What extensions have notified, the oldest first. */
  notifications(since = 0): readonly string[] {
    return this.all("extension_ui_request", since).flatMap((record) =>
      record.method === "notify" ? [record.message] : [],
    );
  }

  /** Waits for something the other reads show: a status, a widget, an entry. */
  async sees<T>(
    look: () => T | undefined | false | Promise<T | undefined | false>,
    what: string,
    options: WaitOptions = {},
  ): Promise<T> {
    return await this.#wait(look, what, options);
  }

  async dialog(options: WaitOptions = {}): Promise<Dialog> {
    const find = (): Dialog | undefined => this.log.slice(options.since ?? 0).find(isDialog);
    return await this.#wait(find, "a dialog", options);
  }

  answer({ id, method }: Dialog, answer: DialogAnswer): void {
    const head = { type: "extension_ui_response", id } as const;
    if (typeof answer === "object") return this.#pipe.send({ ...head, ...answer });
    if (method === "confirm") return this.#pipe.send({ ...head, confirmed: answer === true });
    this.#pipe.send({ ...head, value: String(answer) });
  }

  /** Answers all dialogs from now on; those for which it says nothing stay open. */
  answerDialogs(decide: ((dialog: Dialog) => DialogAnswer | undefined) | undefined): void {
    this.#dialogs = decide;
  }

  /** What the Escape key does in the terminal: what waits is dropped, then the run is aborted. */
  async escape(): Promise<void> {
    await this.call("clear_queue");
    await this.call("abort");
  }

  /** As the user quits: exit code 0, with nothing left to complain about. */
  async quit(): Promise<PiExit> {
    this.#endedByTest = true;
    this.#pipe.closeInput();
    const exit = await this.#end("the end of Pi after its input was closed");
    expectCleanEnd(exit, this.log);
    return exit;
  }

  /** SIGKILL: no handler of Pi or of an extension runs. */
  async kill(): Promise<PiExit> {
    return await this.signal("SIGKILL");
  }

  async signal(signal: NodeJS.Signals): Promise<PiExit> {
    this.#endedByTest = true;
    this.#pipe.signal(signal);
    return await this.#end(`the end of Pi after ${signal}`);
  }

  /** For a test that lets Pi end in another way: nothing is asked of it afterwards. */
  expectOtherEnd(): void {
    this.#endedByTest = true;
  }

  /** What the test has not ended is ended now, and has to end well. */
  async finish(): Promise<void> {
    try {
      if (!this.#endedByTest) await this.quit();
    } finally {
      this.#pipe.signal("SIGKILL");
      await this.#pipe.exited;
    }
  }

  async #end(what: string): Promise<PiExit> {
    return await until(() => this.#pipe.exit, { what: () => what });
  }

  #ui<Method extends RecordOf<"extension_ui_request">["method"]>(
    method: Method,
    fits: (record: Extract<RecordOf<"extension_ui_request">, { method: Method }>) => boolean,
  ): Extract<RecordOf<"extension_ui_request">, { method: Method }> | undefined {
    type Request = Extract<RecordOf<"extension_ui_request">, { method: Method }>;
    const isOne = (record: PiRecord): record is Request =>
      record.type === "extension_ui_request" && record.method === method;
    return this.log.findLast((record): record is Request => isOne(record) && fits(record));
  }

  /** Fails at once when Pi has ended: then nothing more will come. */
  async #wait<T>(
    look: () => T | undefined | false | Promise<T | undefined | false>,
    what: string,
    { timeoutMs }: WaitOptions,
  ): Promise<T> {
    const lookOrFail = async (): Promise<T | undefined | false> => {
      const found = await look();
      if ((found === undefined || found === false) && this.#pipe.exit !== undefined) {
        throw new Error(`Pi ended before ${what}: ${JSON.stringify(this.#pipe.exit)}`);
      }
      return found;
    };
    return await until(lookOrFail, { timeoutMs, what: () => `${what}; ${this.#pipe.recent()}` });
  }
}
