/** What a Pi in RPC mode says on its stdout, and how it ends. */
import type {
  JsonAgentSessionEvent,
  RpcCommand,
  RpcExtensionUIRequest,
  RpcResponse,
} from "@earendil-works/pi-coding-agent";

export interface ExtensionErrorRecord {
  readonly type: "extension_error";
  readonly extensionPath: string;
  readonly event: string;
  readonly error: string;
}

export type PiRecord = JsonAgentSessionEvent | RpcExtensionUIRequest | ExtensionErrorRecord;
export type RecordOf<Type extends PiRecord["type"]> = Extract<PiRecord, { type: Type }>;

/** A request that Pi's extension waits on. */
export type Dialog = Extract<
  RpcExtensionUIRequest,
  { method: "select" | "confirm" | "input" | "editor" }
>;

export type CommandName = RpcCommand["type"];
type CommandOf<Name extends CommandName> = Extract<RpcCommand, { type: Name }>;
export type Fields<Name extends CommandName> = Omit<CommandOf<Name>, "id" | "type">;
export type Data<Name extends CommandName> =
  Extract<RpcResponse, { command: Name; success: true }> extends { data: infer Value }
    ? Value
    : undefined;

export interface PiExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

const DIALOGS: ReadonlySet<string> = new Set(["select", "confirm", "input", "editor"]);

export function isDialog(record: PiRecord): record is Dialog {
  return record.type === "extension_ui_request" && DIALOGS.has(record.method);
}

/** Splits at the byte of a line feed alone: other separators are valid inside a record. */
export class LineSplitter {
  #rest = Buffer.alloc(0);

  push(chunk: Buffer): readonly string[] {
    const lines: string[] = [];
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (let end = this.#rest.indexOf(10); end >= 0; end = this.#rest.indexOf(10)) {
      lines.push(this.#rest.subarray(0, end).toString("utf8"));
      this.#rest = this.#rest.subarray(end + 1);
    }
    return lines;
  }
}
