/**
 * Following a run for as long as it takes: over hosts that end, die, freeze and
 * come back. What a viewer is shown is always a whole state, so nothing has to
 * be caught up after a gap.
 */
import { stateOf } from "../platform/process-identity.ts";
import type { HostClient } from "../client/host-client.ts";
import { HostUnreachableError } from "../client/host-error.ts";
import { livingHost, readHostFile } from "../client/host-file.ts";
import { isHostGone } from "../client/rejection.ts";
import type { WatchRunResponse } from "../gen/piworkflows/host/v1/run_service_pb.ts";
import type { RunView } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { Clock } from "../platform/clock.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import { isTerminal } from "./views/words.ts";

export interface Viewer {
  /** A newer state of the run. */
  show(view: RunView, response: WatchRunResponse): Promise<void>;
  /** Something about the way to the host, not about the run. */
  notice(text: string): void;
}

/** Why the following ended. */
export type FollowEnd = "terminal" | "enough" | "stopped" | "host_gone";

export interface Follow {
  readonly client: HostClient;
  readonly clock: Clock;
  readonly paths: StatePaths;
  readonly runId: string;
  readonly viewer: Viewer;
  /** Aborted when nobody wants to follow any more. */
  readonly signal: AbortSignal;
  /** True when this state is where the follower wants to leave. */
  readonly enough: (view: RunView) => boolean;
}

/** Three heartbeats of the host. */
export const SILENCE_MS = 30_000;
/** A host that was stopped may be about to start again. */
const REGAIN_MS = 10_000;
const REGAIN_PAUSE_MS = 100;

type Outcome = FollowEnd | "broken";

export async function followRun(follow: Follow): Promise<FollowEnd> {
  for (;;) {
    const outcome = await readStream(follow);
    if (outcome !== "broken") return outcome;
    const notice = (text: string): void => follow.viewer.notice(text);
    const regained = await regain({ ...follow, notice });
    if (regained !== undefined) return regained;
  }
}

async function readStream(follow: Follow): Promise<Outcome> {
  const silence = new Silence(follow);
  try {
    const stream = follow.client.runs.watchRun({ runId: follow.runId }, { signal: follow.signal });
    for await (const response of stream) {
      silence.heard();
      const view = response.run;
      if (view === undefined) continue;
      await follow.viewer.show(view, response);
      if (view.summary !== undefined && isTerminal(view.summary)) return "terminal";
      if (follow.enough(view)) return "enough";
    }
    return "broken";
  } catch (error) {
    if (follow.signal.aborted) return "stopped";
    if (!isHostGone(error)) throw error;
    return "broken";
  } finally {
    silence.end();
  }
}

export interface Regain extends Pick<Follow, "client" | "clock" | "paths" | "signal"> {
  readonly notice: (text: string) => void;
}

/** Connects again. Returns why that makes no sense any more, or nothing. */
export async function regain(lost: Regain): Promise<"stopped" | "host_gone" | undefined> {
  const { client, clock, paths, signal, notice } = lost;
  notice(lossNotice(paths));
  const deadline = clock.monotonic() + REGAIN_MS;
  for (;;) {
    if (signal.aborted) return "stopped";
    try {
      await client.reconnect({ startHost: hasDied(paths) });
      return undefined;
    } catch (error) {
      if (signal.aborted) return "stopped";
      if (!(error instanceof HostUnreachableError) || error.kind === "start_failed") throw error;
      if (clock.monotonic() >= deadline) return "host_gone";
    }
    await pause(clock, REGAIN_PAUSE_MS);
  }
}

/**
 * A host removes its file when it is stopped. One that left it behind was killed,
 * and then the run needs another host; one that was stopped stays stopped.
 */
function hasDied(paths: StatePaths): boolean {
  return readHostFile(paths) !== undefined && livingHost(paths) === undefined;
}

function lossNotice(paths: StatePaths): string {
  const host = livingHost(paths);
  if (host !== undefined && stateOf(host.pid) === "T") {
    return `host not responding: it is stopped (pid ${host.pid}; kill -CONT ${host.pid} lets it go on)`;
  }
  return "lost the host; connecting again";
}

async function pause(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(ms, resolve);
  });
}

/** Says once when the host has said nothing for too long, and when it speaks again. */
class Silence {
  readonly #follow: Follow;
  readonly #end: () => void;
  #heardAt: number;
  #told = false;

  constructor(follow: Follow) {
    this.#follow = follow;
    this.#heardAt = follow.clock.monotonic();
    const timer = follow.clock.every(1_000, () => this.#check());
    this.#end = () => timer.cancel();
  }

  heard(): void {
    this.#heardAt = this.#follow.clock.monotonic();
    if (this.#told) this.#follow.viewer.notice("the host responds again");
    this.#told = false;
  }

  end(): void {
    this.#end();
  }

  #check(): void {
    const silentMs = this.#follow.clock.monotonic() - this.#heardAt;
    if (this.#told || silentMs < SILENCE_MS) return;
    this.#told = true;
    this.#follow.viewer.notice(`host not responding for ${SILENCE_MS / 1_000} s; still waiting`);
  }
}
