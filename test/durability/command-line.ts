import type { Section } from "./row.ts";

export const COMMAND_LINE: Section = {
  title: "The command line and the installation",
  rows: [
    {
      fault: "A reader that goes away, closed descriptors",
      moment: "while a command writes",
      promised: "a silent end, no stack trace",
      proofs: [["e2e/cli-scripting", "a reader that goes away"]],
      cases: ["J01", "S09"],
    },
    {
      fault: "Megabytes of JSON",
      moment: "through a slow pipe",
      promised: "every byte arrives, the exit code stays",
      proofs: [
        ["e2e/cli-scripting", "is the same through a pipe, through a slow pipe and in a file"],
      ],
      cases: ["J02", "S09"],
    },
    {
      fault: "Ids and names with `../`, control characters, 300 letters",
      moment: "when they are given, and when they are shown",
      promised: "compared with rows only, and shown escaped",
      proofs: [["e2e/cli-scripting", "%j is an id like any other, and shown as what it is"]],
      cases: ["J04"],
    },
    {
      fault: "Outcomes in scripts",
      moment: "when a command ends",
      promised: "one documented code for each, the same in text and JSON",
      proofs: [["e2e/cli-exit-codes", "is told by show, watch and start --wait: %s"]],
      cases: ["J06", "S09"],
    },
    {
      fault: "No terminal, closed stdin",
      moment: "when a command would ask",
      promised: "never waits for a person; says what to type",
      proofs: [["e2e/cli-scripting", "without a terminal"]],
      cases: ["J07", "S09"],
    },
    {
      fault: "A foreign repository with workflows",
      moment: "when it is listed or completed",
      promised: "nothing of it is loaded to be listed or completed",
      notPromised: "that `start` of it is safe: that runs its code",
      proofs: [["unit/platform/workflow-files", "are not loaded to be listed"]],
      cases: ["J08"],
    },
    {
      fault: "A host that cannot be started",
      moment: "on demand, by many callers at once",
      promised: "its last line and the path of its log, at once, from each of many callers",
      proofs: [["e2e/cli-exit-codes", "that starts, its last line and its log are told at once"]],
      cases: ["J09", "K04", "S10"],
    },
    {
      fault: "A native module for another Node.js",
      moment: "when the host starts",
      promised: "one line with both versions and the remedy",
      proofs: [
        [
          "unit/client/host-error",
          "names both versions and the remedy for a module built for another Node.js",
        ],
        ["e2e/package", "turns Node.js %s away with what it needs"],
      ],
      cases: ["K02"],
    },
    {
      fault: "Folders with spaces, quotes and letters of all kinds",
      moment: "in every command",
      promised: "all commands work, no shell is in between",
      proofs: [
        ["e2e/cli-host", "starts one, which outlives it, and every command then talks to that one"],
      ],
      cases: ["K04"],
    },
    {
      fault: "Somebody wants to see what a run's model does",
      moment: "while its Pi works, on a terminal of any width",
      promised:
        "`show` and `watch` name the step and how its session is read; a line is never wider than the terminal",
      notPromised: "the text of the model itself: that is in Pi's session",
      proofs: [
        [
          "pi/headless-shown",
          "show and watch say that a Pi works on the step, and how its session is read",
        ],
        ["unit/extension/lines", "a narrow line"],
      ],
      cases: ["L04"],
    },
  ],
};
