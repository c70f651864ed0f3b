import { SourceKind } from "../gen/piworkflows/common/v1/source_pb.ts";
import type { Source } from "../gen/piworkflows/common/v1/source_pb.ts";
import { ClaimLoss } from "../gen/piworkflows/common/v1/error_pb.ts";
import { StopReason } from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { RunCancelledError, RunPausedError } from "../workflow/errors.ts";
import type { SourceRecord } from "./definition/load.ts";

/** A recorded source as the loader compares it. */
export function recordedSource(source: Source): SourceRecord {
  const { path, digest, packageName, packageVersion } = source;
  const size = Number(source.size);
  if (source.kind === SourceKind.PACKAGE)
    return { kind: "package", path, digest: "", size, packageName, packageVersion };
  return { kind: "file", path, digest, size };
}

export const CLAIM_LOSSES: Readonly<Record<ClaimLoss, string>> = {
  [ClaimLoss.UNSPECIFIED]: "unknown",
  [ClaimLoss.MISSING_AUTHORITY]: "missing_authority",
  [ClaimLoss.EXPIRED]: "expired",
  [ClaimLoss.OWNER_CHANGED]: "owner_changed",
  [ClaimLoss.TOKEN_CHANGED]: "token_changed",
  [ClaimLoss.GENERATION_CHANGED]: "generation_changed",
};

/** What `ctx.signal` is aborted with for each reason to stop. */
export const STOP_ERRORS: Readonly<Record<StopReason, () => Error>> = {
  [StopReason.UNSPECIFIED]: () => new HostStoppingError(),
  [StopReason.PAUSE]: () => new RunPausedError(),
  [StopReason.CANCEL]: () => new RunCancelledError(),
  [StopReason.HOST_STOPPING]: () => new HostStoppingError(),
  [StopReason.RETIRED]: () => new HostStoppingError(),
};

/** The host ends; the run goes on when it is back. */
class HostStoppingError extends Error {
  override readonly name = "HostStoppingError";

  constructor() {
    super("the host is stopping; the run goes on when it is back");
  }
}
