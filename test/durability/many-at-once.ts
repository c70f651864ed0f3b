import type { Section } from "./row.ts";

export const MANY_AT_ONCE: Section = {
  title: "Many at once",
  rows: [
    {
      fault: "Ten hosts in one state folder",
      moment: "started at once",
      promised: "one lives, the others end well, every caller finds it",
      proofs: [
        ["fault/host-start", "becomes the only one of ten that start at once"],
        ["e2e/cli-host", "is not alone: all of ten at once get the same host"],
      ],
      cases: ["A03"],
    },
    {
      fault: "One command under one key; the same key with other content",
      moment: "20 or 200 times at once; after a restart; when the run has ended",
      promised:
        "one effect, one receipt for all; other content is a conflict, also after a restart and after the run ended",
      proofs: [
        ["fault/host-deaths", "given %i times at once makes one run"],
        [
          "fault/host-deaths",
          "given with other content is refused, also after a restart and when the run has ended",
        ],
      ],
      cases: ["A05"],
      asked: ["200 parallel starts with one key: at once"],
    },
    {
      fault: "Twenty callers resume one paused run",
      moment: "at once",
      promised: "it is started once; the others are told its state",
      proofs: [["fault/host-deaths", "twenty who resume one paused run at once start it once"]],
      cases: ["A03"],
    },
    {
      fault: "More runs than places, from several projects",
      moment: "at any time",
      promised: "never more than the capacity; a place is free when its tree is gone",
      notPromised: 'an order among projects beyond "fewest first"',
      proofs: [
        [
          "integration/scheduler",
          "are as many as the capacity, and a place is free when its tree is gone",
        ],
      ],
      cases: ["A10", "L05"],
    },
    {
      fault: "A start that was put off (`start --at`, `--in`)",
      moment: "falls due, also while no host runs",
      promised: "it starts once, when it is due or right after the next start of a host",
      notPromised:
        "a start that repeats itself: the system's own timers do that, with the due time as the key",
      proofs: [
        ["integration/scheduler", "launches a delayed run when it is due, and not before"],
        [
          "integration/handlers-start",
          "admits the run and offers it the worker that loaded the file",
        ],
      ],
      cases: ["L01"],
    },
  ],
};
