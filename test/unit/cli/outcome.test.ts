import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ExitCode } from "../../../src/cli/exit-codes.ts";
import { exitCodeOfReason, exitCodeOfRun } from "../../../src/cli/outcome.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus, RunSummarySchema } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { word } from "../../../src/platform/text.ts";

/** Every status and its code; a status that is missing here fails the test. */
const BY_STATUS: Readonly<Record<string, number>> = {
  unspecified: 0,
  queued: 0,
  starting: 0,
  running: 0,
  waiting: 0,
  completed: 0,
  failed: 10,
  cancelled: 11,
  timed_out: 12,
  blocked: 14,
  paused: 15,
};

/** Every reason and its code. */
const BY_REASON: Readonly<Record<string, number>> = {
  unspecified: 3,
  claim_lost: 3,
  stale_revision: 3,
  illegal_transition: 3,
  idempotency_conflict: 3,
  run_not_found: 4,
  interaction_not_found: 4,
  interaction_closed: 3,
  wrong_kind: 3,
  workflow_invalid: 2,
  workflow_not_found: 4,
  input_invalid: 3,
  answer_invalid: 3,
  source_changed: 3,
  effect_ambiguous: 3,
  effect_not_found: 4,
  limit_exceeded: 3,
  host_stopping: 5,
  version_skew: 5,
  storage_full: 3,
  storage_failed: 3,
  worker_unknown: 3,
  request_invalid: 2,
  submission_in_progress: 3,
  wrong_session: 3,
  human_only: 3,
  session_fenced: 3,
  worker_failed: 3,
};

describe("the exit code", () => {
  test.each(Object.values(RunStatus))("of run status %d is the documented one", (status) => {
    const run = create(RunSummarySchema, { status });
    expect(exitCodeOfRun(run)).toBe(BY_STATUS[word(RunStatus, status)]);
  });

  test("of a run that waits for somebody says so", () => {
    const run = create(RunSummarySchema, { status: RunStatus.WAITING, interactionId: "int_1" });
    expect(exitCodeOfRun(run)).toBe(ExitCode.runNeedsAnswer);
  });

  test.each(Object.values(Reason))("of refusal %d is the documented one", (reason) => {
    expect(exitCodeOfReason(reason)).toBe(BY_REASON[word(Reason, reason)]);
  });

  test("means one thing each", () => {
    const codes = Object.values(ExitCode);
    expect(new Set(codes).size).toBe(codes.length);
  });
});
