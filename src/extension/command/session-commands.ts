/** What `/workflow` does about the session itself and the host. */
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { GetStatusResponse } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import { systemClock } from "../../platform/clock.ts";
import { packageVersion } from "../../platform/package-info.ts";
import { bytes, duration, plural, safe, safeLines } from "../../platform/text.ts";
import { wordOfStatus } from "../run-words.ts";
import type { LinkState } from "../session-link.ts";
import { statusText } from "../status-line.ts";
import { ask, newCommand } from "../tool/call.ts";
import { clearEnded } from "../widget.ts";
import { CommandError, PERSON } from "./call.ts";
import type { CommandCall } from "./call.ts";
import { knownId } from "./known-id.ts";

/** How long a take-over may need until it is seen here. */
const TAKE_OVER_MS = 5_000;

/** Without a run: this Pi shows the steps from now on. With one: its steps come into this session. */
export async function here(call: CommandCall): Promise<void> {
  const { link, place, parsed } = call;
  if (parsed.target === "") {
    await takeOver(call);
    return;
  }
  const request = {
    command: newCommand(PERSON),
    runId: knownId(link, parsed.target),
    sessionId: link.sessionId,
  };
  const { receipt } = await ask(call, ({ sessions, attachmentId }, options) => {
    if (attachmentId === undefined) {
      throw new CommandError("This session is not attached to the host now. Try again.");
    }
    return sessions.adoptRun({ ...request, attachmentId }, options);
  });
  place.ui.notify(`the steps of ${receipt?.runId ?? parsed.target} come into this session now`);
}

async function takeOver({ link, place }: CommandCall): Promise<void> {
  if (isHolder(link.state)) {
    place.ui.notify("this Pi shows the steps of the session already");
    return;
  }
  link.takeOver();
  await new Promise<void>((resolve) => {
    const stop = link.onChange(() => {
      if (isHolder(link.state)) end();
    });
    const limit = systemClock.after(TAKE_OVER_MS, () => end());
    const end = (): void => {
      stop();
      limit.cancel();
      resolve();
    };
  });
  const taken = isHolder(link.state);
  const text = taken ? "this Pi shows the steps of the session now" : standingText(link);
  place.ui.notify(text, taken ? "info" : "warning");
}

function isHolder(state: LinkState): boolean {
  return state.kind === "attached" && state.holder;
}

export function clear({ link, place }: CommandCall): void {
  if (!clearEnded(link)) place.ui.notify("there is nothing to clear");
}

export async function host(call: CommandCall): Promise<void> {
  const status = await ask(call, ({ hostService }, options) => hostService.getStatus({}, options));
  call.place.ui.notify(hostLines(status).join("\n"));
}

/** What the host finds in its state, and what this session has to say of itself. */
export async function doctor(call: CommandCall): Promise<void> {
  const { place, link } = call;
  const file = place.sessionManager.getSessionFile();
  const own = [
    `extension ${packageVersion()}, Node.js ${process.versions.node}`,
    standingText(link),
    `session ${link.sessionId}: ${file ?? "kept in memory only; runs cannot be continued after quitting"}`,
    `project ${place.isProjectTrusted() ? "trusted" : "not trusted: its own workflows do not start"}`,
  ];
  const { findings } = await ask(call, ({ hostService }, options) =>
    hostService.diagnose({}, options),
  );
  const status = await ask(call, ({ hostService }, options) => hostService.getStatus({}, options));
  const found = findings.map(
    ({ invariant, message }) => `  ${safe(invariant)}: ${safeLines(message)}`,
  );
  const verdict = found.length === 0 ? "nothing is wrong" : `${plural(found.length, "finding")}:`;
  const remedy = found.length === 0 ? [] : ["  see and mend: pi-workflows doctor --repair"];
  const lines = [...own, ...hostLines(status), verdict, ...found, ...remedy];
  place.ui.notify(lines.join("\n"), found.length === 0 ? "info" : "warning");
}

function standingText(link: Parameters<typeof statusText>[0]): string {
  return statusText(link, systemClock.now()) ?? "workflow: ready";
}

function hostLines(status: GetStatusResponse): readonly string[] {
  const up = status.uptime === undefined ? "" : `, up ${duration(durationMs(status.uptime))}`;
  const runs = status.runs.map(({ status: of, count }) => `${count} ${wordOfStatus(of)}`);
  const busy = status.workers.filter(({ runId }) => runId !== "").length;
  return [
    `host ${safe(status.version)} ${safe(status.state)} (pid ${status.pid}${up})`,
    `  runs: ${runs.length === 0 ? "none" : runs.join(", ")}`,
    `  workers: ${busy} busy of ${status.capacity}; open requests: ${status.pendingInteractions}`,
    `  database ${bytes(status.databaseBytes)}, memory ${bytes(status.residentBytes)}`,
  ];
}
