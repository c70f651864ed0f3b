/** One `/workflow …` on its way: who typed it, where, and what it may ask. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { SessionLink } from "../session-link.ts";
import type { ParsedCommand } from "./parse.ts";

/** What commands use of Pi's dialogs and messages. */
export type CommandUi = Pick<ExtensionContext["ui"], "notify" | "select" | "input" | "custom">;

export interface CommandPlace {
  readonly ui: CommandUi;
  readonly mode: ExtensionContext["mode"];
  readonly cwd: string;
  isProjectTrusted(): boolean;
  readonly sessionManager: { getSessionFile(): string | undefined };
}

export interface CommandCall {
  readonly link: SessionLink;
  readonly place: CommandPlace;
  readonly parsed: ParsedCommand;
  /** Aborted when the session ends; every dialog and call has it. */
  readonly signal: AbortSignal;
  /** Wall-clock milliseconds. */
  readonly now: () => number;
}

/** Something that the user is told instead of what was asked for. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The name under which a person's answers and commands are recorded. */
export const PERSON = "pi-user";
