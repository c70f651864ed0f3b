/** What the model may say to the tool, and what it is told about it. */
import type { JsonValue } from "@bufbuild/protobuf";

export const ACTIONS = [
  "list",
  "start",
  "status",
  "pause",
  "resume",
  "cancel",
  "restart",
  "answer",
  "update",
  "submit",
] as const;

export type Action = (typeof ACTIONS)[number];

export interface ToolArguments {
  readonly action: Action;
  readonly workflow?: string;
  readonly input?: JsonValue;
  readonly run?: string;
  readonly interaction?: string;
  readonly value?: JsonValue;
  readonly text?: string;
  readonly allowDuplicate?: boolean;
}

/** JSON Schema. `input` and `value` have no type: they hold whatever the workflow asks for. */
export const PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["action"],
  properties: {
    action: {
      type: "string",
      enum: [...ACTIONS],
      description:
        "list: workflows that can be started, and runs. start: a new run. status: of one run, or of all. " +
        "pause, resume, cancel, restart: a run. submit: the result of an agent step. " +
        "answer: a checkpoint question. update: tell how an open step is coming along.",
    },
    workflow: {
      type: "string",
      description: "start: name or path of the workflow.",
    },
    input: {
      description: "start: the run's input as a JSON value.",
    },
    run: {
      type: "string",
      description: "status, pause, resume, cancel, restart: id of the run, run_….",
    },
    interaction: {
      type: "string",
      description: "submit, answer, update: the exact interaction id from the step's text, int_….",
    },
    value: {
      description:
        "submit, answer: the result as a JSON value, not as JSON in a string. A plain text goes into text.",
    },
    text: {
      type: "string",
      description:
        "submit, answer: the result when it is a text. update: what is going on. cancel: why.",
    },
    allowDuplicate: {
      type: "boolean",
      description:
        "start: another run although the same one was started less than a minute ago. Only when the user wants two.",
    },
  },
} as const;

/** A call that cannot be carried out as it was written. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

const NEEDS: Readonly<Record<"workflow" | "run" | "interaction" | "text", string>> = {
  workflow: "the name or path of a workflow (see action list)",
  run: "the id of a run (see action status)",
  interaction: "the exact interaction id from the step's text",
  text: "a text",
};

export function required(args: ToolArguments, name: keyof typeof NEEDS): string {
  const given = args[name]?.trim() ?? "";
  if (given !== "") return given;
  throw new ArgumentError(`action ${args.action} needs ${name}: ${NEEDS[name]}.`);
}

/** The result that is handed in: `text` as it is, `value` as the JSON it is or holds. */
export function givenValue(args: ToolArguments): JsonValue {
  const { value, text } = args;
  if (value !== undefined && text !== undefined) {
    throw new ArgumentError("Give the result once: in value, or in text when it is a text.");
  }
  if (text !== undefined) return text;
  if (value === undefined) throw new ArgumentError(`action ${args.action} needs value.`);
  return unquoted(value);
}

/** Some models put JSON into a string. An object or a list in a string is meant as such. */
export function unquoted(value: JsonValue): JsonValue {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    // Text that happens to begin with a bracket.
    return value;
  }
}
