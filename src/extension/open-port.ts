/** The port to a real Pi. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { MESSAGE_TYPE } from "./message-details.ts";
import type { PiPort } from "./pi-port.ts";

export function openPort(pi: ExtensionAPI, ctx: ExtensionContext): PiPort {
  const { sessionManager, cwd, mode } = ctx;
  return {
    sessionId: sessionManager.getSessionId(),
    sessionFile: sessionManager.getSessionFile() ?? "",
    cwd,
    mode,
    isIdle: () => ctx.isIdle(),
    branch: () => sessionManager.getBranch(),
    leafId: () => sessionManager.getLeafId() ?? "",
    send: ({ text, details, startsTurn }) => {
      const message = { customType: MESSAGE_TYPE, content: text, display: true, details };
      pi.sendMessage(message, { triggerTurn: startsTurn });
    },
    abort: () => ctx.abort(),
  };
}
