import type { Section } from "./row.ts";

export const EFFECTS: Section = {
  title: "Effects",
  rows: [
    {
      fault: "The service commits and the reply is late, lost or never sent; worker or host killed",
      moment: "between the call and its settlement",
      promised:
        "the same key on every attempt; an idempotent effect is observed or applied again, a manual one waits for a person",
      notPromised: "exactly once outside: that is between the key and the service",
      proofs: [
        ["fault/effects-outcomes", "an idempotent effect of unknown outcome"],
        ["fault/effects-outcomes", "a manual effect of unknown outcome"],
      ],
      cases: ["A06", "A13", "S01"],
    },
    {
      fault: "The time of an effect runs out",
      moment: "in the last permitted attempt",
      promised: "the effect is ambiguous, and the route for `timed_out` is taken",
      proofs: [
        [
          "fault/effects-outcomes",
          "is tried again when time runs out, and at last left ambiguous and routed",
        ],
      ],
      cases: ["A13", "E13", "S01"],
    },
    {
      fault: "Pause, `pause --now`, cancel or a stop of the host",
      moment: "while an effect is applied",
      promised:
        "settled first where it can be waited for; else pending (idempotent) or ambiguous (manual)",
      proofs: [["fault/effects-interrupted", "while an effect is being applied"]],
      cases: ["E02", "E03"],
    },
    {
      fault: "An effect is asked for again with another request",
      moment: "after it was recorded",
      promised: "the run is blocked as `effect_conflict`",
      proofs: [
        [
          "integration/operations-effects-settled",
          "with another request blocks the run, and a resume does not help",
        ],
      ],
      cases: ["F05"],
    },
    {
      fault: "A person says that an effect did not happen",
      moment: "while what applied it is still being ended",
      promised:
        "refused until nothing of it lives: the effect may yet happen, and one has to look again",
      proofs: [
        [
          "integration/operations-effects-settled",
          "is asked to look again while what applied it is being ended",
        ],
      ],
      cases: ["A06", "S01"],
    },
  ],
};
