/** Sees every run's changes, from its cursor on, whichever host tells them. */
import { isHostGone } from "../../src/client/rejection.ts";
import type { HostClient } from "../../src/client/host-client.ts";
import type { Cursor } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import type { RunSummary } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import type { WatchRunsResponse } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";

/** Tells each new state until the signal ends it; throws what is no end of a host. */
export async function watchAll(
  client: HostClient,
  signal: AbortSignal,
  see: (run: RunSummary) => void,
): Promise<void> {
  let cursor: Cursor | undefined;
  const take = (message: WatchRunsResponse): void => {
    for (const run of message.runs) see(run);
    cursor = message.cursor ?? cursor;
  };
  while (!signal.aborted) {
    try {
      const request = cursor === undefined ? {} : { cursor };
      for await (const message of client.runs.watchRuns(request, { signal })) take(message);
    } catch (error) {
      if (signal.aborted) return;
      if (!isHostGone(error)) throw error;
    }
    if (!signal.aborted) await client.reconnect({ startHost: true });
  }
}
