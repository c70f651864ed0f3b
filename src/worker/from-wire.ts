import { SourceKind } from "../gen/piworkflows/common/v1/source_pb.ts";
import type { Source } from "../gen/piworkflows/common/v1/source_pb.ts";
import { ClaimLoss } from "../gen/piworkflows/common/v1/error_pb.ts";
import { StopReason } from "../gen/piworkflows/worker/v1/answers_pb.ts";
import { CancelledError, HostStoppingError, PausedError } from "../workflow/errors.ts";
import type { SourceRecord } from "./definition/load.ts";

/** A recorded source as the loader compares it. */
export function recordedSource(source: Source): SourceRecord {
  const { path, digest, packageName, packageVersion } = source;
  const size = Number(source.size);
  if (source.kind === SourceKind.PACKAGE)
    return { kind: "package", path, digest: "", size, packageName, packageVersion };
  return { kind: "file", path, digest, size };
}

/** In which way the claim is gone, in the words of state.md. */
export function claimLoss(loss: ClaimLoss): string {
  return CLAIM_LOSSES[loss] ?? "unknown";
}

const CLAIM_LOSSES: Partial<Record<ClaimLoss, string>> = {
  [ClaimLoss.MISSING_AUTHORITY]: "missing_authority",
  [ClaimLoss.EXPIRED]: "expired",
  [ClaimLoss.OWNER_CHANGED]: "owner_changed",
  [ClaimLoss.TOKEN_CHANGED]: "token_changed",
  [ClaimLoss.GENERATION_CHANGED]: "generation_changed",
};

/** What `ctx.signal` is aborted with when the host says stop. */
export function stopError(reason: StopReason): Error {
  if (reason === StopReason.PAUSE) return new PausedError();
  if (reason === StopReason.CANCEL) return new CancelledError();
  return new HostStoppingError();
}
