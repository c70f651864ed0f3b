/** From Pi's events to the bridge of the present session. Thin: nothing is decided here. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { systemClock } from "../platform/clock.ts";
import { blockedTool } from "./allowed-tools.ts";
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
      const { openWire } = await import("./wire.ts");
      return openWire({ ...options, facts });
    },
  });
}

type Present = () => Bridge | undefined;

function listen(pi: ExtensionAPI, guard: Guard, present: Present): void {
  pi.on(
    "input",
    guard.wrap("input", () => present()?.input()),
  );
  pi.on(
    "before_agent_start",
    guard.wrap("before_agent_start", (event) => {
      const started = event.messageType === "custom" ? ownMessage(event.message) : undefined;
      present()?.runStarts(started);
    }),
  );
  pi.on(
    "agent_start",
    guard.wrap("agent_start", () => present()?.looked()),
  );
  pi.on(
    "message_end",
    guard.wrap("message_end", ({ message }) => {
      const own = message.role === "custom" ? ownMessage(message) : undefined;
      if (own === undefined) return;
      present()?.messageWritten(own);
      // Pi writes it after its handlers have returned.
      setImmediate(guard.wrap("message_end", () => present()?.looked()));
    }),
  );
  pi.on(
    "turn_end",
    guard.wrap("turn_end", () => present()?.looked()),
  );
  pi.on(
    "agent_settled",
    guard.wrap("agent_settled", ({ aborted }) => present()?.runSettled(aborted)),
  );
  pi.on(
    "session_tree",
    guard.wrap("session_tree", () => present()?.treeChanged()),
  );
  pi.on(
    "session_before_compact",
    guard.wrap("session_before_compact", ({ reason }) => {
      if (reason === "manual") present()?.manualCompact();
    }),
  );
  // Pi is still busy inside these.
  const afterCompact = guard.wrap("session_compact", () => {
    setImmediate(guard.wrap("session_compact", () => present()?.looked()));
  });
  pi.on("session_compact", afterCompact);
  pi.on("session_compact_failed", afterCompact);
  pi.on(
    "tool_call",
    guard.wrap("tool_call", (event) => {
      const reason = blockedTool(present()?.allowedTools, event);
      return reason === undefined ? undefined : { block: true, reason };
    }),
  );
}

function ownMessage(message: {
  readonly customType: string;
  readonly details?: unknown;
}): MessageDetails | undefined {
  return message.customType === MESSAGE_TYPE ? readDetails(message.details) : undefined;
}
