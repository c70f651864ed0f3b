/** Puts the extension together. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { registerCards } from "./cards.ts";
import { bridgeSessions } from "./events.ts";
import { Guard } from "./guard.ts";
import { startWidget } from "./widget.ts";
import { registerCommand } from "./workflow-command.ts";
import { registerTool } from "./workflow-tool.ts";

export function startExtension(pi: ExtensionAPI): void {
  const guard = new Guard();
  const { link } = bridgeSessions(pi, guard, (ctx, present) => {
    void guard.run("load", loadRest);
    return startWidget(ctx, present, { guard });
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
