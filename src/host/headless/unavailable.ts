/** Why no Pi can be had for a step, and what a person can do about it. */
import type { PiExit } from "../supervisor/pi-process.ts";

/** A start that came to nothing. */
export interface StartFault {
  readonly message: string;
  /** True when another start would end in the same way. */
  readonly final: boolean;
}

export const NO_MODEL =
  "Pi has no model it can use; start pi, choose one with /model and log in with /login, " +
  "or state the model of the run (start --provider NAME --model NAME)";

export const NO_EXTENSION =
  "Pi did not load the extension of pi-workflows; run pi in a terminal to see why, " +
  "and look for pi-workflows in pi list and pi config";

export function deafFault(seconds: number): string {
  return `Pi did not come to the host within ${seconds} s of its start`;
}

export function stuckFault(seconds: number): string {
  return `Pi was there, and did not begin the step for ${seconds} s`;
}

/** Two copies of the extension are loaded: what was given with `-e`, and what Pi has by itself. */
const CONFLICT = /conflicts with/;

export function isConflict({ lastWords }: PiExit): boolean {
  return CONFLICT.test(lastWords);
}

export function exitFault(exit: PiExit): string {
  const remedy = isConflict(exit)
    ? "\nPi loads two copies of pi-workflows; remove one: pi list, pi remove SOURCE"
    : "";
  return `${withLastWords(`Pi ended before it began the step (${exit.how})`, exit)}${remedy}`;
}

/** Pi says so of every session that begins, which explains nothing. */
const NEW_SESSION = /^Warning: No project session found with id .*$\n?/m;

/** A fault and what Pi itself complained about. */
export function withLastWords(fault: string, { lastWords }: PiExit): string {
  const words = lastWords.replace(NEW_SESSION, "").trim();
  return words === "" ? fault : `${fault}; it said:\n${words}`;
}

export function unavailable(node: string, tries: number, fault: string): string {
  const times = tries === 1 ? "" : ` after ${tries} starts`;
  return `the step ${node} found no Pi${times}: ${fault}`;
}
