import type { Section } from "./row.ts";

export const EVERYTHING_AT_ONCE: Section = {
  title: "Everything at once",
  rows: [
    {
      fault: "Faults of all kinds in any order",
      moment: "in 300 simulated lives of 200 steps each, on every commit",
      promised:
        "nothing acknowledged is lost or done twice, nobody without the right is listened to, every run ends once the faults stop",
      proofs: [["simulation/simulation", "loses nothing, does nothing twice and comes to its end"]],
      cases: ["A01", "A03", "A07", "B01", "S02"],
    },
    {
      fault: "A protection is missing",
      moment: "when somebody changes the host's core",
      promised: "the simulation notices: each of a list of deliberate defects is found by it",
      notPromised: "that it notices every defect there could be",
      proofs: [["simulation/simulation", "is noticed: %s, so that %s"]],
      cases: [],
    },
    {
      fault: "Kills, stops, freezes and crowds on real processes",
      moment: "for as long as the soak runs",
      promised:
        "what was acknowledged holds, no process and no file is left, memory and files stay within stated limits",
      proofs: [["fault/soak", "a soak of seconds finds nothing, and says what it did"]],
      cases: ["H06"],
    },
    {
      fault: "The worker that loads a file is killed by somebody, or its stream breaks",
      moment: "during a start or a check",
      promised:
        "another one loads it, once; when that one loses its stream, too, the call is refused and the file not blamed",
      notPromised: "a third worker; a second kill is taken for the file's doing",
      proofs: [
        [
          "integration/resolver-failures",
          "because somebody killed its process is loaded by the next",
        ],
        [
          "integration/resolver-failures",
          "because its worker lost its stream is loaded by the next",
        ],
        [
          "integration/resolver-failures",
          "is not blamed when a second worker loses its stream, too",
        ],
      ],
      cases: [],
    },
    {
      fault: "The compiler of a spare is ended from outside",
      moment: "before a load",
      promised: "the next load starts another one",
      proofs: [["integration/worker/transform", "that was ended from outside is replaced"]],
      cases: [],
    },
  ],
};
