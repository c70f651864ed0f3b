import type { Section } from "./row.ts";

export const TREES_AND_OUTPUT: Section = {
  title: "Process trees and output",
  rows: [
    {
      fault:
        "A command ignores SIGTERM, has children that do too, one that holds the output open, one in a session of its own",
      moment: "at cancel, `pause --now`, the death of its worker or host, a stop",
      promised: "all of it is gone, and the run is not launched again before",
      notPromised:
        "a process that removes the tag from its environment _and_ leaves group and session",
      proofs: [
        ["fault/process-trees", "cancel ends the whole tree of a node"],
        [
          "fault/process-trees",
          "a command that outlives its killed worker is gone before the run is launched again",
        ],
      ],
      cases: ["C14", "C01", "C02", "S03"],
      asked: [
        "setsid escapee: at a cancel",
        "setsid escapee: at the SIGKILL of a worker",
        "setsid escapee: at the SIGKILL of the host",
      ],
    },
    {
      fault: "A command leaves somebody with its output",
      moment: "when it exits",
      promised:
        "the attempt ends when the command exits; what follows is read while it comes, and no longer",
      proofs: [
        [
          "integration/worker/run-command",
          "is listened to while the one it left still writes, and not for longer",
        ],
        [
          "integration/worker/run-command",
          "is not waited for when the one it left never stops writing",
        ],
      ],
      cases: ["C05", "C06"],
    },
    {
      fault: "A recorded pid belongs to somebody else; a child leads no group",
      moment: "when a tree is to be ended",
      promised: "nobody else is signalled, never process 1, ourselves or our group",
      proofs: [
        [
          "fault/supervisor-orphans",
          "never signals a process that only has the number of a worker",
        ],
        ["fault/supervisor-end", "the guard of group signals"],
      ],
      cases: ["C04", "C09"],
    },
    {
      fault: "Whoever started the host goes away",
      moment: "at any time after the start",
      promised: "the host stays; workers follow the host alone",
      proofs: [
        ["e2e/cli-host", "leaves it alive when its terminal closes and its group is killed"],
      ],
      cases: ["C03", "J03"],
    },
    {
      fault: "Output floods: 300 MB without a line end, 2 GB of lines, on both streams",
      moment: "while a node or its command executes",
      promised:
        "head and tail are kept, what was cut is counted, the host's memory stays below 300 MB and others are answered within a second",
      notPromised: "the middle of the output",
      proofs: [
        [
          "fault/output-floods",
          "floods of three workers leave the host's memory and other callers alone",
        ],
        [
          "fault/output-floods",
          "the flood of a command is cut by its worker, and the command still succeeds",
        ],
      ],
      cases: ["C07", "C08", "S06"],
      asked: ["output flood: 300 MB without a newline", "output flood: 2 GB of lines"],
    },
    {
      fault: "A worker writes nonsense on its stream, or stops to read",
      moment: "at any time",
      promised: "that worker is ended, nothing else",
      proofs: [
        ["fault/supervisor-start", "that breaks the protocol ends that worker alone"],
        ["integration/worker-service", "whose worker reads nothing does not grow without end"],
      ],
      cases: ["C16"],
    },
    {
      fault: "The environment of whoever started the host",
      moment: "when children start, and in all that is stored",
      promised:
        "the rule of `docs/operating.md`: the host's cleaned environment, what the node adds, nothing of it stored",
      notPromised: "that a later shell's variables reach a host that runs",
      proofs: [
        [
          "unit/platform/child-environment",
          "an environment is handed on without what belongs to its launcher",
        ],
        ["fault/secrets", "no value of the environment is in any file of the state folder"],
      ],
      cases: ["C13", "J05"],
    },
    {
      fault:
        "Fork bomb: ten processes that start another in their place and end, half of them in a new session each time",
      moment: "at a cancel, at the death of its worker, at the death of its host",
      promised:
        "all of them are gone before the run is launched again; after the death of the host that is done by the next one",
      notPromised:
        "an end of what forks without a pause, faster than the processes of the machine can be looked through",
      proofs: [
        ["fault/fork-bombs", "a cancel ends them"],
        ["fault/fork-bombs", "they end with their killed worker"],
        ["fault/fork-bombs", "the host after a killed one ends them"],
        ["fault/fork-bombs", "one of them is seen by every look"],
      ],
      cases: ["C14", "C01", "S03"],
      asked: [
        "fork bomb of ten: at a cancel",
        "fork bomb of ten: at the SIGKILL of a worker",
        "fork bomb of ten: at the SIGKILL of the host",
      ],
    },
  ],
};
