/** The few records of Pi's RPC mode that a host without a user needs; the many others are passed over. */

export type PiRecord = PiNews | Dialog | Complaint;

/** What Pi answered to `PI_QUESTIONS`. */
export type PiNews =
  | { readonly kind: "state"; readonly hasModel: boolean }
  | { readonly kind: "commands"; readonly hasExtension: boolean };

/** Somebody inside asks a user, and there is none. */
interface Dialog {
  readonly kind: "dialog";
  readonly id: string;
}

interface Complaint {
  readonly kind: "complaint";
  readonly text: string;
}

/** Asked first; answered when all extensions have begun their session. */
export const PI_QUESTIONS = [
  JSON.stringify({ id: "state", type: "get_state" }),
  JSON.stringify({ id: "commands", type: "get_commands" }),
].join("\n");

const DIALOGS: ReadonlySet<unknown> = new Set(["select", "confirm", "input", "editor"]);
/** The type stands among the first fields of every record. */
const HEAD_BYTES = 256;
const TYPE = /"type":"(\w+)"/;
const WANTED: ReadonlySet<string | undefined> = new Set([
  "extension_ui_request",
  "extension_error",
  "response",
]);
/** Command that our extension registers, which tells that it was loaded. */
const OWN_COMMAND = "workflow";

type Fields = Readonly<Record<string, unknown>>;

/** Absent for what does not matter here, which is nearly everything. */
export function readPiRecord(line: Buffer): PiRecord | undefined {
  // A model's words come by in thousands of records, which the host's loop must not parse.
  const type = TYPE.exec(line.toString("latin1", 0, HEAD_BYTES))?.[1];
  if (!WANTED.has(type)) return undefined;
  const record = parse(line);
  if (record["type"] === "response") return readResponse(record);
  if (record["type"] === "extension_error") return complaint(record["error"]);
  if (record["type"] !== "extension_ui_request") return undefined;
  const { id, method } = record;
  if (DIALOGS.has(method)) return { kind: "dialog", id: String(id) };
  const isError = method === "notify" && record["notifyType"] === "error";
  return isError ? complaint(record["message"]) : undefined;
}

/** Whatever is asked: nobody is there. */
export function answerTo({ id }: Dialog): string {
  return JSON.stringify({ type: "extension_ui_response", id, cancelled: true });
}

function readResponse({ command, data }: Fields): PiRecord | undefined {
  const facts = fieldsOf(data);
  if (command === "get_state") {
    const model = fieldsOf(facts["model"]);
    // Pi's way of saying that it knows no model it could use.
    const isUnknown = model["provider"] === undefined || model["provider"] === "unknown";
    return { kind: "state", hasModel: !isUnknown };
  }
  if (command !== "get_commands" || !Array.isArray(facts["commands"])) return undefined;
  const names = facts["commands"].map((one) => fieldsOf(one)["name"]);
  // A second copy of it gets a number.
  return { kind: "commands", hasExtension: names.some((name) => isOwn(String(name))) };
}

function isOwn(name: string): boolean {
  return name === OWN_COMMAND || name.startsWith(`${OWN_COMMAND}:`);
}

function complaint(text: unknown): Complaint | undefined {
  return typeof text === "string" && text !== "" ? { kind: "complaint", text } : undefined;
}

function parse(line: Buffer): Fields {
  try {
    return fieldsOf(JSON.parse(line.toString("utf8")));
  } catch {
    // Something printed into the stream; it is no record.
    return {};
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
