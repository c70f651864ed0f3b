import type { Section } from "./row.ts";

export const SOURCES_AND_VALUES: Section = {
  title: "Sources and values",
  rows: [
    {
      fault:
        "A file of the workflow, root, helper, dynamic import, is edited or deleted, the project moved, a package upgraded",
      moment: "between start and resume",
      promised:
        "the run is blocked before anything changed is evaluated, and names it; `--recorded-source` goes on with the recorded bytes, `--accept-source` with the new ones where the past fits, else says what does not",
      notPromised: "bytes of packages: only their versions are recorded",
      proofs: [
        ["fault/sources", "$what stops the run, and two ways lead on"],
        ["fault/sources", "$what can be accepted: what was done stays, what follows is new"],
        [
          "fault/sources",
          "a change that the run's past does not fit cannot be accepted, and says what does not",
        ],
      ],
      cases: ["F01", "F04", "S05"],
    },
    {
      fault: "A broken workflow file",
      moment: "at the start, and in `validate`",
      promised:
        "all problems with file and line; nothing stored; the same key works when it is mended",
      proofs: [
        ["fault/sources", "is refused at the start with all its problems, and nothing is stored"],
      ],
      cases: ["A05", "L03"],
    },
    {
      fault: "TypeScript as projects write it, links, module types",
      moment: "whenever a file is loaded",
      promised: "the same result in validate, start and resume",
      notPromised: "type checking",
      proofs: [
        ["integration/worker/load-definition", "may use everything that TypeScript projects use"],
      ],
      cases: ["F03"],
    },
    {
      fault: "Clocks, randomness, environment in author code",
      moment: "when an activation is repeated",
      promised:
        "code is never replayed: a node's stored output is what routes and what later nodes see",
      notPromised: "that an interrupted attempt computes the same again",
      proofs: [["unit/worker/engine/drive", "only routes when the attempt was closed outside"]],
      cases: ["F05"],
    },
    {
      fault: "A stored value damaged on the disk",
      moment: "before its run goes on",
      promised: "the run is blocked before a node executes; nothing is guessed",
      notPromised: "the value",
      proofs: [
        ["fault/database", "a run whose stored value is damaged is stopped before a node executes"],
      ],
      cases: ["F02"],
    },
    {
      fault: "Values that JSON would change; odd errors",
      moment: "when a node returns or throws",
      promised:
        "refused at return with the path, or exact; live and resumed values are equal; the error's own text is kept",
      proofs: [
        ["unit/workflow/json", "a value that JSON would change or lose"],
        ["unit/workflow/describe-error", "keeps the message when fields hold what JSON cannot"],
        ["unit/worker/engine/run-state", "keeps the output %s"],
      ],
      cases: ["G01", "G02", "F02", "S07"],
    },
    {
      fault: "Values over 8 MiB, requests over the limit, long lists",
      moment: "when they are returned, sent or asked for",
      promised: "refused once with size and limit, never retried; lists are paged",
      proofs: [
        ["fault/output-floods", "a value over the limit fails its attempt and names the limit"],
        [
          "integration/server",
          "over the size of a request is refused, and the next one is answered",
        ],
        ["integration/handlers-reads", "is bounded, however much is asked for"],
      ],
      cases: ["G04", "C08", "S06"],
      asked: ["result of 20 MB: when a node returns it"],
    },
    {
      fault: "Answers that do not fit",
      moment: "when they are given",
      promised: "refused with the place and the rule; the schema is checked when the workflow is",
      notPromised: "that a person is asked only so often",
      proofs: [
        ["integration/handlers-answers", "takes what fits the stored schema and nothing else"],
      ],
      cases: ["G05"],
    },
  ],
};
