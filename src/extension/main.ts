/** Puts the extension together. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { registerCards } from "./cards.ts";
import { bridgeSessions } from "./events.ts";
import { Guard } from "./guard.ts";
import { startWidget } from "./widget.ts";

export function startExtension(pi: ExtensionAPI): void {
  const guard = new Guard();
  registerCards(pi);
  bridgeSessions(pi, guard, (ctx, link) => startWidget(ctx, link, { guard }));
}
