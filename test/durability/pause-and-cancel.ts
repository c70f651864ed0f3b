import type { Section } from "./row.ts";

export const PAUSE_AND_CANCEL: Section = {
  title: "Pause, cancel, resume",
  rows: [
    {
      fault: "Cancel",
      moment: "in every state of a run",
      promised:
        "run, attempt, question, timer, claim and effects are final or ambiguous in one transaction, before the worker is told",
      notPromised: "that an effect caught in the act did not happen",
      proofs: [
        ["integration/operations-cancel", "ends a run that is %s and leaves nothing open"],
        ["fault/worker-deaths", "can be cancelled"],
      ],
      cases: ["E02", "C10"],
    },
    {
      fault: "Pause",
      moment: "in every state of a run; while an effect is applied",
      promised:
        "no node starts after the pause was acknowledged; the effect is waited for and shown as pausing, a resume takes that back, `--now` does not wait",
      proofs: [
        ["integration/operations-pause", "stops a run that is %s, and a resume lets it go on"],
        ["fault/effects-interrupted", "a pause waits for it"],
        ["fault/effects-interrupted", "a pause can be taken back"],
      ],
      cases: ["E03", "E04"],
    },
    {
      fault: "An error that must not be retried, also from a second copy of the package",
      moment: "when it crosses the process border",
      promised: "it is not retried; strings, null and undefined are recorded readably",
      proofs: [
        ["unit/workflow/errors", "whether trying again may help"],
        [
          "unit/worker/nodes/pure-nodes",
          "fails with what it threw, and says whether trying again may help",
        ],
      ],
      cases: ["E05"],
    },
  ],
};
