/** One call of the tool on its way to the host. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { HostClients, SessionLink } from "../session-link.ts";
import { newId } from "../../platform/ids.ts";
import type { ToolArguments } from "./arguments.ts";

/** What a call knows of the session it comes from. */
export interface ToolPlace {
  readonly cwd: string;
  isProjectTrusted(): boolean;
  readonly ui: Pick<ExtensionContext["ui"], "confirm">;
  readonly sessionManager: { getSessionFile(): string | undefined };
}

export interface ToolCall {
  readonly link: SessionLink;
  readonly place: ToolPlace;
  readonly args: ToolArguments;
  readonly signal: AbortSignal | undefined;
  /** Wall-clock milliseconds. */
  readonly now: number;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Asks the host, again with the very same request when it went away in between. */
export async function ask<Result>(
  { link, signal }: Pick<ToolCall, "link" | "signal">,
  fn: (clients: HostClients, options: CallOptions) => Promise<Result>,
): Promise<Result> {
  const options = signal === undefined ? {} : { signal };
  return await link.call((clients) => fn(clients, options), signal);
}

/**
 * The `command` of a request: a key of its own for every call, because providers
 * repeat the ids of tool calls. It is sent again only within the call.
 */
export function newCommand(client: string): {
  readonly requestId: string;
  readonly idempotencyKey: string;
  readonly client: string;
} {
  return { requestId: newId("req"), idempotencyKey: newId("tch"), client };
}
