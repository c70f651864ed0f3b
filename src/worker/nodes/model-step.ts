import { modelChoice } from "../../workflow/agent.ts";
import type { ModelStepOptions } from "../../workflow/agent.ts";
import type { Context } from "../../workflow/context.ts";
import { NonRetryableError } from "../../workflow/errors.ts";
import { stated } from "./ask.ts";
import type { InteractionRequest } from "./interaction.ts";
import { oneLine, requireText } from "./interaction.ts";

/** A longer prompt is refused by some models, and by the host. */
const PROMPT_CHARS_MAX = 96_000;
/** Tools of one step. */
const TOOLS_MAX = 256;

type StepOptions = ModelStepOptions<unknown, Readonly<Record<string, unknown>>>;

/** What every step for a model carries beside its question. */
export async function modelOptions(
  node: StepOptions,
  context: Context,
  path: string,
): Promise<Pick<InteractionRequest, "allowedTools" | "model">> {
  const { allowedTools, model } = node;
  return {
    ...(allowedTools === undefined
      ? {}
      : { allowedTools: toolNames(await stated(allowedTools, context), path) }),
    ...(model === undefined ? {} : { model: modelChoice(model) }),
  };
}

function toolNames(names: unknown, path: string): readonly string[] {
  const place = `nodes.${path}.allowedTools`;
  if (!Array.isArray(names)) throw new TypeError(`${place}: must be a list of names`);
  if (names.length > TOOLS_MAX) throw new TypeError(`${place}: has more than ${TOOLS_MAX} names`);
  return (names as readonly unknown[]).map((name, at) => requireText(name, `${place}[${at}]`));
}

/** One line for a list: the label the author gave, or how the prompt begins. */
export function stepSummary(label: string | undefined, prompt: string, path: string): string {
  const first = prompt.split("\n").find((line) => line.trim() !== "");
  return oneLine(label ?? first, `nodes.${path}.prompt`);
}

/** Refuses what is too long for a model, and says which part is the longest. */
export function requireFits(
  path: string,
  parts: {
    readonly prompt: string;
    readonly expectedOutput?: string;
    readonly schema?: string | undefined;
  },
): void {
  const sizes = Object.entries(parts).map(
    ([part, text]: [string, string | undefined]) => [part, text?.length ?? 0] as const,
  );
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (total <= PROMPT_CHARS_MAX) return;
  const [part, size] = sizes.reduce((most, one) => (one[1] > most[1] ? one : most));
  throw Object.assign(
    new NonRetryableError(
      `nodes.${path}: the step's text has ${total} characters, more than ${PROMPT_CHARS_MAX}; ` +
        `the largest part is ${part} with ${size}. Write the material to a file and name its path`,
    ),
    { part, size, limit: PROMPT_CHARS_MAX },
  );
}
