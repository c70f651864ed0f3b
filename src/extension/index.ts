/**
 * What Pi loads. It opens no socket, starts no timer and no process: Pi calls it
 * also to print its help. All of that begins with a session that has a user.
 */
import { VERSION } from "@earendil-works/pi-coding-agent";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { takeSessionSecret } from "../platform/session-secret.ts";
import { registerCards } from "./cards.ts";
import { bridgeSessions } from "./events.ts";
import { Guard } from "./guard.ts";
import { unsupportedPi } from "./pi-version.ts";
import { sharedState } from "./shared-state.ts";
import { startWidget } from "./widget.ts";

export default function workflows(pi: ExtensionAPI): void {
  const secret = takeSessionSecret();
  if (secret !== "") sharedState().secret = secret;
  const problem = unsupportedPi(VERSION);
  const guard = new Guard();
  if (problem === undefined) start(pi, guard);
  else refuse(pi, problem, guard);
}

function start(pi: ExtensionAPI, guard: Guard): void {
  registerCards(pi);
  bridgeSessions(pi, guard, (ctx, link) => startWidget(ctx, link, { guard }));
}

function refuse(pi: ExtensionAPI, problem: string, guard: Guard): void {
  const tell = guard.wrap("session_start", (_event: unknown, ctx: Notified) => {
    if (ctx.hasUI) ctx.ui.notify(problem, "error");
  });
  pi.on("session_start", tell);
}

interface Notified {
  readonly hasUI: boolean;
  readonly ui: { notify(message: string, type: "error"): void };
}
