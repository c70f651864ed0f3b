/** What the bridge needs of Pi, and no more. Dead once Pi has left the session. */
import type { BranchEntry } from "./branch.ts";
import type { MessageDetails } from "./message-details.ts";

export interface OwnMessage {
  readonly text: string;
  readonly details: MessageDetails;
  readonly startsTurn: boolean;
}

export interface PiPort {
  readonly sessionId: string;
  /** Empty for a session that is kept in memory only. */
  readonly sessionFile: string;
  readonly cwd: string;
  readonly mode: string;
  /** True when Pi works on nothing: no run, no retry, no compaction. */
  isIdle(): boolean;
  /** The active branch, the oldest first. */
  branch(): readonly BranchEntry[];
  /** Empty when there is no entry. */
  leafId(): string;
  send(message: OwnMessage): void;
  abort(): void;
}
