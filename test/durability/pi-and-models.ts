import type { Section } from "./row.ts";

export const PI_AND_MODELS: Section = {
  title: "Answers, models and other Pis",
  rows: [
    {
      fault: "A node is visited many times; answers come out of order or for another request",
      moment: "at each visit",
      promised:
        "each visit has keys and requests of its own; an answer goes to the id that it names and to no other",
      notPromised: "parallel questions of one run: a run asks one at a time",
      proofs: [
        ["integration/operations-effects", "has a key that belongs to its visit alone"],
        ["pi/order", "one request at a time, the older first"],
      ],
      cases: ["D11", "D16"],
    },
    {
      fault: "A dialog is closed, answered strangely or not at all",
      moment: "while a question is open",
      promised:
        "that is no answer; the question stays open until a person gives one of its choices or the policy's time comes",
      proofs: [
        [
          "pi/answers",
          "a decision is refused to the model's tool, and made by the user in a dialog",
        ],
        [
          "pi/answers",
          "a decision that nobody makes takes its default, and a late person is told which won",
        ],
        ["integration/handlers-requests", "checks the choice and its text"],
      ],
      cases: ["D13"],
    },
    {
      fault: "An answer comes from the command line",
      moment: "while no Pi is open",
      promised: "the run goes on at once",
      proofs: [
        ["fault/host-deaths", "while a run waits for an answer takes the answer afterwards, once"],
        [
          "pi/answers",
          "a checkpoint takes the same answer from the model, the user and the command line",
        ],
      ],
      cases: ["D15"],
    },
    {
      fault: "Talk, other runs and other events",
      moment: "while a step is open",
      promised: "they change nothing of it and start nothing again",
      proofs: [
        ["pi/order", "ordinary chat while a checkpoint waits changes nothing"],
        [
          "pi/notices",
          "notes of a loop come once each and start no turn, also when the host is killed",
        ],
      ],
      cases: ["D17"],
    },
    {
      fault: "Pi inside Pi: a step of a model starts another Pi, in print or RPC mode",
      moment: "in a step's turn",
      promised:
        "it is nobody to the run; a headless Pi starts no runs, and our package is loaded once",
      proofs: [
        ["pi/tools", "a nested Pi in print mode attaches to nothing and changes nothing"],
        ["pi/headless", "a Pi inside a step is nobody to the run"],
        ["pi/headless-choices", "a package that Pi loads by itself is not loaded twice"],
      ],
      cases: ["D19", "D22"],
    },
    {
      fault: "The user asks for the same start twice, or looks from another session",
      moment: "within a minute; at any time",
      promised:
        "the first run is the answer for a minute; all runs are listed and steered from anywhere by their id",
      proofs: [
        ["pi/switching", "/workflow here moves a run to another session"],
        ["integration/operations-ends", "a start from a session"],
      ],
      cases: ["D20"],
    },
    {
      fault: "The user's Escape, and what looks like it",
      moment: "in a step's turn, and in any other",
      promised:
        "Escape in a step's turn pauses the run once; quitting, a new session, a compaction and a turn that the host stops do not",
      proofs: [
        ["pi/abort", "Escape in a step's turn pauses the run once, and resume presents it again"],
        ["pi/abort", "a turn that the host asks to stop pauses nothing"],
        ["pi/screen-abort", "Escape in a step's turn pauses the run, and /workflow resume goes on"],
      ],
      cases: ["D08"],
    },
    {
      fault: "A provider refuses for a while, or a model fails",
      moment: "in a step's turn",
      promised:
        "steps of that session wait until the time it named, which is shown and not counted; failures are tried again after pauses, then routed as `model_error`",
      proofs: [
        [
          "pi/limits",
          "a rate limit holds the step until the provider's time, uncounted, and then goes on",
        ],
        ["pi/limits", "a usage limit holds all steps of the session, and shows until when"],
        ["pi/limits", "a model that fails after every back-off fails the attempt as model_error"],
      ],
      cases: ["D02"],
    },
    {
      fault: "A notice comes late",
      moment: "after its run was resumed, cancelled or went on",
      promised:
        "a request that is not open any more is taken back before it is shown; news and ends are told with what was true when they were made, and the model's tool tells the present state",
      notPromised: "that a text that stands in the session changes afterwards",
      proofs: [
        [
          "integration/operations-messages",
          "takes back what nobody has seen and stops the model; a resume asks again",
        ],
        [
          "integration/operations-messages",
          "takes the request back and stops the model that works on it",
        ],
      ],
      cases: ["A12"],
    },
    {
      fault: "A provider's limit or error ends the turn of a headless step",
      moment: "in that turn",
      promised:
        "as in a session: it is read from the turn itself and not from an exit code, held or tried again, and never taken for an empty success",
      proofs: [
        [
          "pi/limits",
          "a rate limit holds the step until the provider's time, uncounted, and then goes on",
        ],
        ["pi/reminders", "it is reminded twice, then the attempt fails as missing_submission"],
      ],
      cases: ["C12", "C17"],
    },
    {
      fault: "The extension is loaded by a Pi that is no Node.js, or has no SQLite",
      moment: "when Pi starts",
      promised: "it loads nothing native; only the host does, in a Node.js of its own",
      notPromised: "a Pi for which no Node.js can be found: it says so",
      proofs: [
        ["e2e/extension-build", "imports Pi's packages in that file alone"],
        ["e2e/extension-build", "needs no wire until a session has begun"],
      ],
      cases: ["K01"],
    },
  ],
};
