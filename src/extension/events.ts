/** From Pi's events to the bridge of the present session. Thin: nothing is decided here. */
import type {
  BeforeAgentStartEvent,
  ExtensionAPI,
  ExtensionContext,
  MessageEndEvent,
} from "@earendil-works/pi-coding-agent";
import { systemClock } from "../platform/clock.ts";
import { blockedTool } from "./allowed-tools.ts";
import type { ToolCall } from "./allowed-tools.ts";
import { Bridge } from "./bridge.ts";
import type { Guard } from "./guard.ts";
import { MESSAGE_TYPE, readDetails } from "./message-details.ts";
import type { MessageDetails } from "./message-details.ts";
import { openPort } from "./open-port.ts";
import type { PiPort } from "./pi-port.ts";
import type { SessionLink } from "./session-link.ts";
import { factsOf, secretFor, sharedState } from "./shared-state.ts";
import { TurnFacts } from "./turn-facts.ts";
import type { SessionFacts } from "./wire.ts";

/** The last report of a session gets so long before Pi leaves it. */
const LAST_REPORT_MS = 300;

const DRAWN_MS = 100;

export interface BridgeHandle {
  readonly link: () => SessionLink | undefined;
}

/** Shows the link of a session that has begun; returns what ends that. */
export type ShowLink = (ctx: ExtensionContext, link: SessionLink) => () => void;

/** Keeps one bridge for each session that has a user interface. */
export function bridgeSessions(pi: ExtensionAPI, guard: Guard, show: ShowLink): BridgeHandle {
  let bridge: Bridge | undefined;
  let hide: (() => void) | undefined;
  const start = (ctx: ExtensionContext): void => {
    // Print and JSON mode end with their prompt; nothing may come into it.
    if (!ctx.hasUI) return;
    guard.onFault(({ where, error }) => {
      ctx.ui.notify(
        `workflows: an error inside the extension (${where}): ${error.message}`,
        "error",
      );
    });
    bridge = openBridge(openPort(pi, ctx), guard);
    hide = show(ctx, bridge);
  };
  const end = async (): Promise<void> => {
    const ending = bridge;
    bridge = undefined;
    if (hide !== undefined) guard.run("hide", hide);
    hide = undefined;
    await ending?.close(LAST_REPORT_MS);
  };
  pi.on(
    "session_start",
    guard.wrap("session_start", (_event, ctx) => start(ctx)),
  );
  pi.on(
    "session_shutdown",
    guard.wrap("session_shutdown", async () => await end()),
  );
  listen(pi, guard, () => bridge);
  return { link: () => bridge };
}

function openBridge(port: PiPort, guard: Guard): Bridge {
  const shared = sharedState();
  const facts: SessionFacts = {
    sessionId: port.sessionId,
    cwd: port.cwd,
    sessionFile: port.sessionFile,
    mode: port.mode,
    pid: process.pid,
    secret: secretFor(shared, port.sessionId),
  };
  return new Bridge({
    port,
    clock: systemClock,
    guard,
    facts: new TurnFacts(factsOf(shared, port.sessionId)),
    severalPrompts: port.mode === "tui",
    openWire: async (options) => {
      await untilDrawn();
      const { openWire } = await import("./wire.ts");
      return openWire({ ...options, facts });
    },
  });
}

/** Pi draws its first picture, or answers its first call, before anything more is loaded. */
async function untilDrawn(): Promise<void> {
  await new Promise<void>((resolve) => {
    systemClock.after(DRAWN_MS, resolve);
  });
}

type Present = () => Bridge | undefined;

function listen(pi: ExtensionAPI, guard: Guard, present: Present): void {
  listenToRuns(pi, guard, present);
  listenToSession(pi, guard, present);
  const check = guard.wrap("tool_call", (call: ToolCall) => {
    const reason = blockedTool(present()?.allowedTools, call);
    return reason === undefined ? undefined : { block: true, reason };
  });
  pi.on("tool_call", check);
}

function listenToRuns(pi: ExtensionAPI, guard: Guard, present: Present): void {
  const starts = guard.wrap("before_agent_start", (event: BeforeAgentStartEvent) => {
    present()?.runStarts(event.messageType === "custom" ? ownMessage(event.message) : undefined);
  });
  const written = guard.wrap("message_end", ({ message }: MessageEndEvent) => {
    const own = message.role === "custom" ? ownMessage(message) : undefined;
    if (own === undefined) return;
    present()?.messageWritten(own);
    // Pi writes it after its handlers have returned.
    setImmediate(look);
  });
  const settled = guard.wrap("agent_settled", ({ aborted }: { readonly aborted: boolean }) => {
    present()?.runSettled(aborted);
  });
  const look = guard.wrap("look", () => present()?.looked());
  const input = guard.wrap("input", () => present()?.input());
  pi.on("input", input);
  pi.on("before_agent_start", starts);
  pi.on("agent_start", look);
  pi.on("message_end", written);
  pi.on("turn_end", look);
  pi.on("agent_settled", settled);
}

function listenToSession(pi: ExtensionAPI, guard: Guard, present: Present): void {
  const moved = guard.wrap("session_tree", () => present()?.treeChanged());
  const compacts = guard.wrap("session_before_compact", (event: { readonly reason: string }) => {
    if (event.reason === "manual") present()?.manualCompact();
  });
  const look = guard.wrap("look", () => present()?.looked());
  // Pi is still busy inside these.
  const lookLater = (): void => void setImmediate(look);
  pi.on("session_tree", moved);
  pi.on("session_before_compact", compacts);
  pi.on("session_compact", lookLater);
  pi.on("session_compact_failed", (event) => {
    // A short session has nothing to compact; the model was stopped all the same.
    compacts(event);
    lookLater();
  });
}

function ownMessage(message: {
  readonly customType: string;
  readonly details?: unknown;
}): MessageDetails | undefined {
  return message.customType === MESSAGE_TYPE ? readDetails(message.details) : undefined;
}
