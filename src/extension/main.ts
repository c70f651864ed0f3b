/** Puts the extension together. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { systemClock } from "../platform/clock.ts";
import { registerCards } from "./cards.ts";
import { tellOfOthers } from "./elsewhere.ts";
import { bridgeSessions } from "./events.ts";
import { Guard } from "./guard.ts";
import { startWidget } from "./widget.ts";
import { registerCommand } from "./workflow-command.ts";
import { registerTool } from "./workflow-tool.ts";

/** Long enough for Pi to be up, and for the session to be attached. */
const LOAD_REST_MS = 1_000;

export function startExtension(pi: ExtensionAPI): void {
  const guard = new Guard();
  const { link } = bridgeSessions(pi, guard, (ctx, present) => {
    const hide = startWidget(ctx, present, { guard });
    const keepQuiet = tellOfOthers(ctx, present, guard);
    const loading = systemClock.after(LOAD_REST_MS, () => {
      void guard.run("load", loadRest);
    });
    return () => {
      loading.cancel();
      keepQuiet();
      hide();
    };
  });
  registerCards(pi);
  registerTool(pi, link);
  registerCommand(pi, link, guard);
}

/** Now, because an update of the package takes away the files that are not loaded yet. */
async function loadRest(): Promise<void> {
  await import("./tool/run-action.ts");
  await import("./command/run-command.ts");
}
