import type { Section } from "./row.ts";

export const FULL_DISKS_AND_COPIES: Section = {
  title: "Full disks, power cuts and copies",
  rows: [
    {
      fault: "Disk full",
      moment:
        "before any single call of whole journeys: start, settlement, message, answer, repair",
      promised: "the call is refused or waits, and is done once when there is room again",
      proofs: [
        ["fault/disk-moments", "brings a run that"],
        ["fault/disk-moments", "shows a session each message once"],
      ],
      cases: ["H06"],
      asked: ["disk full: at a message"],
    },
    {
      fault: "Disk full",
      moment: "at the start of a host on a new, a closed or an existing database",
      promised: "it says that there is no room; a new database is there whole or not at all",
      proofs: [
        ["fault/disk-moments", "keeps a host from starting"],
        ["fault/disk", "a host says so also of a database that it has closed"],
        ["fault/disk", "a new database is there whole or not at all"],
      ],
      cases: ["H06", "H07"],
    },
    {
      fault: "Files may not grow (`ulimit -f`)",
      moment: "at a transition, and at the start of a host",
      promised: "the host ends with 74, says why and acknowledges nothing; the next one decides",
      notPromised: "that the host lives: SQLite cannot tell this from a broken disk",
      proofs: [
        ["fault/file-limits", "ends at $what without an answer"],
        ["fault/file-limits", "says why it does not start"],
      ],
      cases: ["H06"],
    },
    {
      fault: "Power cut",
      moment: "anywhere in the log, inside a checkpoint, in a log that has started over",
      promised: "exactly what was acknowledged is there, and every run comes to the same end",
      notPromised: "what a disk loses that lies about syncing",
      proofs: [
        ["fault/store-power-cut", "a power cut"],
        ["fault/power-cut", "a power cut that leaves, behind the last sync,"],
      ],
      cases: ["H09", "A06"],
      asked: ["power cut: in any torn prefix of what came after"],
    },
    {
      fault: "Another program holds a lock on the database",
      moment: "for 8 s under heartbeats, an answer and a start; or writes without a pause",
      promised: "no claim is lost, nobody is shown BUSY, a backup comes to its end",
      proofs: [
        ["fault/database", "and has locked for eight seconds lets"],
        ["fault/database", "and writes to without a pause serves"],
        ["integration/store-files", "ends also while another program writes"],
      ],
      cases: ["B06", "B07", "H04", "S08"],
      asked: ["database locked by another program: 8 s, while runs execute"],
    },
    {
      fault: "A folder on which nothing can be renamed or made",
      moment: "under a running host, and at its start",
      promised: "runs, backup and an orderly stop go on; a start says why it cannot",
      proofs: [
        ["fault/folders", "a folder, under a running host, hinders no run"],
        ["fault/folders", "a folder keeps a host from starting"],
        ["fault/folders", "a folder in the place of host.json is named"],
        ["fault/folders", "a socket that was removed is bound again on a full disk"],
      ],
      cases: ["H08", "J09"],
      asked: ["rename fails: under a running host"],
    },
    {
      fault: "A backup is restored",
      moment: "made while runs execute, put back in place or into another folder",
      promised:
        "runs go on and nothing settled is repeated; its host leaves the original's processes alone; readers with an old place begin anew",
      notPromised: "that effects applied after the copy are known; two hosts on the same runs",
      proofs: [
        ["fault/backup", "goes on in another folder"],
        ["fault/backup", "put back in place"],
        ["fault/backup", "opened elsewhere while its host lives leaves"],
      ],
      cases: ["A06"],
    },
    {
      fault: "Rows that contradict themselves",
      moment: "when a person looks",
      promised: "each is named; mended is only what the rows prove, after its plan was shown",
      proofs: [
        ["e2e/cli-doctor", "finds each by its name"],
        ["integration/operations-diagnosis", "mends exactly what is proven"],
      ],
      cases: [],
    },
    {
      fault: "Protected work among old runs",
      moment: "at `prune` and at the daily sweep",
      promised:
        "it stays; so does, for at most a year, a run whose session was not told its end; receipts stay for ever",
      proofs: [
        ["integration/operations-prune", "keeps a run whose end its session has not been shown"],
        ["integration/housekeeping", "never sweeps what is protected"],
        [
          "integration/handlers-host",
          "prunes the output of workers with their runs, and nobody else's",
        ],
      ],
      cases: ["H06"],
    },
  ],
};
