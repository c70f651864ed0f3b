/** What the tool answers: a text for the model, and a line for the one who looks on. */
import { cut } from "../../platform/text.ts";

export interface Outcome {
  /** One line for the transcript. */
  readonly headline: string;
  /** What the model reads. */
  readonly text: string;
  readonly isError?: boolean;
}

/** More would only push the conversation out of the model's sight. */
const TEXT_CHARS = 6_000;
const HEADLINE_CHARS = 160;

export function done(headline: string, text: string): Outcome {
  return { headline: cut(headline, HEADLINE_CHARS), text: cut(text, TEXT_CHARS) };
}

export function failed(headline: string, text: string): Outcome {
  return { ...done(headline, text), isError: true };
}
