/** Says once, when a session begins, that runs of its project wait in other sessions. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { plural } from "../platform/text.ts";
import type { RunSummary } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { Guard } from "./guard.ts";
import { RUN_STATUS } from "./run-words.ts";
import type { SessionLink } from "./session-link.ts";

interface Place {
  readonly cwd: string;
  readonly ui: Pick<ExtensionContext["ui"], "notify">;
}

/** So many of the newest runs are looked at. */
const RUNS_SEEN = 50;

/** Asks the host once, with the first attachment; what it returns ends that. */
export function tellOfOthers(ctx: Place, link: SessionLink, guard: Guard): () => void {
  const ended = new AbortController();
  const look = (): void => {
    const { state, picture } = link;
    if (state.kind !== "attached" || picture === undefined) return;
    stop();
    // The Pi of a headless run has nobody to tell.
    if (picture.headlessRunId !== "") return;
    void guard.run("others", async () => await tell(ctx, link, ended.signal));
  };
  const stop = link.onChange(look);
  return () => {
    stop();
    ended.abort();
  };
}

async function tell({ cwd, ui }: Place, link: SessionLink, signal: AbortSignal): Promise<void> {
  const request = { projectDir: cwd, statuses: [RUN_STATUS.waiting], pageSize: RUNS_SEEN };
  const answer = await link
    .call(async ({ runs }) => await runs.listRuns(request, { signal }), signal)
    // A hint is not worth a word about why there is none.
    .catch(() => undefined);
  const others = (answer?.runs ?? []).filter((run) => waitsElsewhere(run, link.sessionId));
  const [newest] = others;
  if (newest === undefined || signal.aborted) return;
  const verb = others.length === 1 ? "waits in another session" : "wait in other sessions";
  const more = others.length === 1 ? "" : " (/workflow list shows all)";
  ui.notify(
    `${plural(others.length, "run")} of this project ${verb}: /workflow here ${newest.runId}${more}`,
    "info",
  );
}

/** For the model or a person, and not for a time: that passes without any session. */
function waitsElsewhere({ originSession, interactionId }: RunSummary, sessionId: string): boolean {
  return originSession !== "" && originSession !== sessionId && interactionId !== "";
}
