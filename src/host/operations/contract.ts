/** What a request consists of, by its kind, checked before anybody is asked. */
import { HostError } from "../errors.ts";
import { CHOICES_MAX, CHOICE_TEXT_CHARS_MAX, PROMPT_CHARS_MAX } from "../limits.ts";
import type { Instant } from "../records.ts";
import type {
  ChoiceRecord,
  InteractionContract,
  InteractionKind,
  InteractionRecord,
} from "../records-sessions.ts";
import { requireDecision } from "./decision-answer.ts";
import type { InteractionRequest } from "./parking.ts";

/** The parts that each kind has; what else a request brings is not taken. */
const PARTS: Readonly<Record<InteractionKind, readonly (keyof InteractionContract)[]>> = {
  agent: ["prompt", "expectedOutput", "allowedTools", "model"],
  reply: ["prompt", "replyCharsMax", "allowedTools", "model"],
  checkpoint: [],
  human_decision: ["audience", "choices"],
};

/** The contract as it is stored; absent for a checkpoint, which has none. */
export function requireContract(
  request: InteractionRequest,
  runId: string,
): InteractionContract | undefined {
  const { kind } = request;
  if (kind === "checkpoint") return undefined;
  if (kind === "human_decision") requireChoices(request, runId);
  else requirePrompt(request);
  const given = PARTS[kind].filter((part) => request[part] !== undefined);
  return Object.fromEntries(given.map((part) => [part, request[part]]));
}

/** The earlier of both ends counts; a default applies only when it is not the later one. */
export function deadlineOf(
  { timeoutMs = Infinity, onTimeout }: InteractionRequest,
  at: Instant,
): Pick<InteractionRecord, "deadlineAt" | "defaultAnswer"> {
  const defaultMs = onTimeout?.afterMs ?? Infinity;
  const earlier = Math.min(timeoutMs, defaultMs);
  if (earlier === Infinity) return {};
  const deadlineAt = at + earlier;
  if (onTimeout === undefined || defaultMs > timeoutMs) return { deadlineAt };
  return { deadlineAt, defaultAnswer: onTimeout.responseJson };
}

function requirePrompt({ kind, prompt = "" }: InteractionRequest): void {
  if (prompt.trim() === "") throw invalid(`a request of kind ${kind} needs a prompt`);
  if (prompt.length <= PROMPT_CHARS_MAX) return;
  const message = `the prompt has ${prompt.length} characters, at most ${PROMPT_CHARS_MAX} are taken`;
  throw new HostError("LIMIT_EXCEEDED", message, {
    limit: PROMPT_CHARS_MAX,
    actual: prompt.length,
  });
}

function requireChoices({ choices = [], onTimeout }: InteractionRequest, runId: string): void {
  const ids = new Set(choices.map((choice) => choice.id));
  if (choices.length === 0) throw invalid("a decision needs choices");
  if (choices.length > CHOICES_MAX) {
    throw new HostError("LIMIT_EXCEEDED", `a decision has at most ${CHOICES_MAX} choices`, {
      limit: CHOICES_MAX,
      actual: choices.length,
    });
  }
  if (ids.size < choices.length) throw invalid("two choices of a decision have the same id");
  for (const choice of choices) requireInput(choice);
  if (onTimeout !== undefined) requireDecision(choices, onTimeout.responseJson, runId);
}

/** A text that nobody could give, or that would hide the choice, makes a choice useless. */
function requireInput({ id, input }: ChoiceRecord): void {
  if (id === "") throw invalid("a choice of a decision has no id");
  if (input === undefined) return;
  const { name, minLength, maxLength } = input;
  const fits = minLength >= 0 && minLength <= maxLength && maxLength <= CHOICE_TEXT_CHARS_MAX;
  if (!fits || name === "" || name === "choice") {
    throw invalid(`the text of choice ${id} cannot be asked for as ${JSON.stringify(input)}`);
  }
}

function invalid(message: string): HostError {
  return new HostError("REQUEST_INVALID", message);
}
