/**
 * What Pi loads and transpiles, so it is small. It opens no socket, starts no
 * timer and no process: Pi calls it also to print its help.
 */
import * as agent from "@earendil-works/pi-coding-agent";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import * as tui from "@earendil-works/pi-tui";
import { takeSessionSecret } from "../platform/session-secret.ts";
import { offerPiPackages } from "./pi-packages.ts";
import { unsupportedPi } from "./pi-version.ts";
import { sharedState } from "./shared-state.ts";

export default async function workflows(pi: ExtensionAPI): Promise<void> {
  const secret = takeSessionSecret();
  if (secret !== "") sharedState().secret = secret;
  const problem = unsupportedPi(agent.VERSION) ?? (await start(pi));
  if (problem !== undefined) refuse(pi, problem);
}

/** Why the extension cannot be started: a factory that throws would keep Pi itself from starting. */
async function start(pi: ExtensionAPI): Promise<string | undefined> {
  try {
    offerPiPackages({ "@earendil-works/pi-coding-agent": agent, "@earendil-works/pi-tui": tui });
    const { startExtension } = await import("./main.ts");
    startExtension(pi);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `pi-workflows cannot be loaded and is switched off: ${reason}`;
  }
}

function refuse(pi: ExtensionAPI, problem: string): void {
  pi.on("session_start", (_event, { hasUI, ui }) => {
    if (hasUI) ui.notify(problem, "error");
  });
}
