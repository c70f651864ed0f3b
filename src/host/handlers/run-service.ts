/** RunService: one method per RPC. */
import type { ServiceImpl } from "@connectrpc/connect";
import type { RunService } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { InFlight } from "./in-flight.ts";
import { viewSources } from "./parts.ts";
import type { HandlerParts } from "./parts.ts";
import { cancelRun, pauseRun, resumeRun } from "./run-commands.ts";
import { readRunLog } from "./run-log.ts";
import { getRun, getRunValue, listEvents, listRuns } from "./run-queries.ts";
import { restartRun, startRun, validateWorkflow } from "./run-start.ts";
import type { Admitted } from "./run-start.ts";
import { watchRun, watchRuns } from "./run-streams.ts";

export function runService(parts: HandlerParts): ServiceImpl<typeof RunService> {
  const inFlight = new InFlight<Admitted>();
  const { streams } = parts;
  return {
    validateWorkflow: (request) => validateWorkflow(parts, request),
    startRun: (request) => startRun(parts, inFlight, request),
    restartRun: (request) => restartRun(parts, inFlight, request),
    getRun: (request) => getRun(parts, request),
    getRunValue: (request) => getRunValue(viewSources(parts), request),
    listRuns: (request) => listRuns(viewSources(parts), request),
    listEvents: (request) => listEvents(viewSources(parts), request),
    watchRun: (request, { signal }) => streams.count(watchRun(parts, request, signal)),
    watchRuns: (request, { signal }) => streams.count(watchRuns(parts, request, signal)),
    readRunLog: (request, { signal }) => streams.count(readRunLog(parts, request, signal)),
    pauseRun: (request) => pauseRun(parts, request),
    resumeRun: (request) => resumeRun(parts, request),
    cancelRun: (request) => cancelRun(parts, request),
  };
}
