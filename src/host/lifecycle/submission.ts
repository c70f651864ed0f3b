import { defineLifecycle } from "./lifecycle.ts";

export type SubmissionStatus = "validating" | "accepted" | "rejected";
export type SubmissionEvent = "accept" | "reject";

/** One proposed answer to a request to a model, validated by a worker only. */
export const submissionLifecycle = defineLifecycle<SubmissionStatus, SubmissionEvent>(
  "submission",
  {
    validating: { accept: ["accepted"], reject: ["rejected"] },
    accepted: {},
    rejected: {},
  },
);
