import { durationMs } from "@bufbuild/protobuf/wkt";
import { GetStatusResponseSchema } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type { GetStatusResponse } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import { RunStatus } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { WorkerView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import type { Style } from "../output.ts";
import { bytes, duration, plural, safe, word } from "../../platform/text.ts";
import { loopLines } from "../views/run-view.ts";
import { frameOf, printResponse } from "./shared.ts";

const LABEL_CHARS = 14;

export const command: Command = {
  description: "Tells how the host is. Starts none: without a host the exit code is 5.",
  examples: [["host status --json", "for a monitor"]],
  async run(_args, cli) {
    const client = await cli.connect({ startHost: false });
    const response = await client.call(({ host }) => host.getStatus({}));
    printResponse(cli, GetStatusResponseSchema, response, () => [
      ...statusLines(response, cli.out.style),
      ...response.blockedLoops.flatMap((run) => loopLines(run, frameOf(cli))),
    ]);
    return ExitCode.success;
  },
};

function statusLines(status: GetStatusResponse, style: Style): readonly string[] {
  const up = status.uptime === undefined ? "" : ` for ${duration(durationMs(status.uptime))}`;
  const counts = status.runs.map(({ status: of, count }) => `${count} ${word(RunStatus, of)}`);
  const pairs: readonly (readonly [string, string])[] = [
    ["state", style(status.state === "serving" ? "green" : "yellow", `${status.state}${up}`)],
    [
      "process",
      `pid ${status.pid}, epoch ${status.epoch}, ${bytes(status.residentBytes)} of memory`,
    ],
    ["version", `${status.version} on Node.js ${status.nodeVersion}`],
    ["runs", counts.length === 0 ? "none" : counts.join(", ")],
    ["capacity", plural(status.capacity, "run")],
    ["questions", String(status.pendingInteractions)],
    ["ambiguous", plural(status.ambiguousEffects, "effect")],
    ["expired", plural(status.expiredClaims, "claim")],
    ["database", `${bytes(status.databaseBytes)}, log ${bytes(status.walBytes)}`],
    ["streams", String(status.attachedStreams)],
    ["workers", status.workers.length === 0 ? "none" : ""],
  ];
  return [
    ...pairs.map(([label, value]) => `${label.padEnd(LABEL_CHARS)}${value}`.trimEnd()),
    ...status.workers.map(workerLine),
  ];
}

function workerLine({ workerId, pid, state, runId }: WorkerView): string {
  return `  ${workerId}  pid ${pid}  ${safe(state)}  ${runId}`.trimEnd();
}
