import type { Section } from "./row.ts";

export const PI_SESSIONS: Section = {
  title: "Pi sessions",
  rows: [
    {
      fault: "A step becomes ready",
      moment: "while Pi streams, waits for a retry, compacts, or the user types",
      promised:
        "it is shown once, after that, and has a turn of its own; it counts as delivered only when it stands on the branch",
      proofs: [
        ["pi/delivery", "that comes while the user's turn runs waits for its end"],
        ["pi/moments", "in a retry back-off of the user's turn it waits for the turn to end"],
        ["pi/moments", "during a compaction it waits for the end of it"],
        [
          "pi/delivery",
          "that waits for a reopened Pi does not get in the way of the user's first words",
        ],
      ],
      cases: ["D01", "D02", "D08", "S04"],
    },
    {
      fault: "The session is reloaded, left, gone back in, forked or moved",
      moment: "while a request waits",
      promised:
        "host and run do not notice; the request is shown again where it is gone from the branch, and nowhere else; a fork cannot answer",
      notPromised: "that a half turn counts",
      proofs: [
        ["pi/switching", "going back before a step presents it again; a reload does not"],
        ["pi/switching", "a fork has copies of a step and may not submit for it"],
        ["pi/abort", "a new session in a step's turn does not pause the run"],
        ["pi/switching", "/workflow here moves a run to another session"],
      ],
      cases: ["D03", "D05", "S04"],
    },
    {
      fault: "A run ends",
      moment: "while no Pi has its session open",
      promised: "it is told once, in that session, when it is next open",
      notPromised: "a model turn for a result that is older than ten minutes",
      proofs: [
        ["pi/switching", "a run that ended with no Pi open is told once, in its own session only"],
      ],
      cases: ["D04"],
    },
    {
      fault: "Two Pi processes have one session open",
      moment: "at any time",
      promised:
        "the second looks on, takes over when the first has gone or its user says so, and the first does not fight for it",
      proofs: [
        [
          "pi/switching",
          "a second Pi on one session stands by, and takes over when the first has gone",
        ],
        [
          "pi/switching",
          "/workflow here takes a session over, and the first Pi does not fight for it",
        ],
      ],
      cases: ["D05"],
    },
    {
      fault: "Pi killed",
      moment: "while the model works on a step",
      promised:
        "the reopened session has the same request once more; a repeated submission gets the stored receipt; three such losses in a row block the run",
      proofs: [
        ["pi/deaths", "a killed Pi finds the same request once in its reopened session"],
        ["pi/limits", "three lost turns in a row block the run"],
      ],
      cases: ["D09"],
      asked: ["SIGKILL of a client: Pi, in a turn"],
    },
    {
      fault: "Host killed",
      moment: "while a step waits in a session, is validated, or between a commit and its answer",
      promised:
        "Pi goes on working and finds the next host by itself; the call in flight is answered by it; nothing is shown or accepted twice",
      proofs: [
        [
          "pi/deaths",
          "a host that is killed while a step waits is started again, and nothing comes twice",
        ],
        [
          "pi/deaths",
          "a host that is killed during a validation validates again, for the same call",
        ],
        [
          "pi/stale",
          "a host that dies between the commit of a submission and its answer is asked again",
        ],
        ["pi/delivery", "ends its turn while no host serves, and the next one hears how it ended"],
      ],
      cases: ["D09", "D14", "S04"],
    },
    {
      fault: "The model ends its turn without a result, or submits twice, late or wrongly",
      moment: "in a step's turn",
      promised:
        "two reminders, then `missing_submission`, which the graph may route; a rejected result comes back with the author's words; a late one is refused by name",
      proofs: [
        ["pi/reminders", "it is reminded twice, then the attempt fails as missing_submission"],
        ["pi/steps", "a validation error comes back to the model"],
        [
          "pi/stale",
          "a result for a request that a retry or a restart has replaced is refused by name",
        ],
      ],
      cases: ["D10"],
    },
    {
      fault: "The worker that validates a submission dies, hangs or cannot start",
      moment: "while a submission is validated",
      promised: "that submission is rejected with words that say so; the request stays open",
      proofs: [
        ["pi/stale", "validation runs in a worker; its death rejects that submission only"],
        [
          "integration/scheduler-validation",
          "is rejected when its validation takes too long, and the worker is ended",
        ],
      ],
      cases: ["D14"],
    },
  ],
};
