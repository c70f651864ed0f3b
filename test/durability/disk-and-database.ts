import type { Section } from "./row.ts";

export const DISK_AND_DATABASE: Section = {
  title: "The disk and the database",
  rows: [
    {
      fault: "Disk full",
      moment: "at a start",
      promised:
        "it is refused as `STORAGE_FULL`, nothing is stored, and the same key is taken when there is room",
      proofs: [
        [
          "fault/disk",
          "a start is refused as STORAGE_FULL, and taken under the same key when there is room",
        ],
      ],
      cases: ["H06"],
      asked: ["disk full: at a start"],
    },
    {
      fault: "Disk full",
      moment: "at a transition, and at the settlement of an effect",
      promised:
        "nothing is acknowledged that is not on the disk; both wait, are not done again, and the host goes on by itself when there is room",
      notPromised: "that the run gets on while there is no room",
      proofs: [["fault/disk", "$what waits for room and is not done again"]],
      cases: ["H06"],
      asked: ["disk full: at a transition", "disk full: at a settlement"],
    },
    {
      fault: "Disk full",
      moment: "at a backup",
      promised: "it is refused as `STORAGE_FULL`, no half a file is left, and the host goes on",
      proofs: [["fault/disk", "a backup leaves no half a file, and the host goes on"]],
      cases: ["H06"],
      asked: ["disk full: at a backup"],
    },
    {
      fault: "Disk full",
      moment: "when a host starts or stops",
      promised:
        "a start says so in one line; a stop is in order, and the next host goes on when there is room",
      proofs: [
        ["fault/disk", "a host stops in order, and goes on when there is room"],
        ["fault/disk", "a host that cannot be started says that there is no room, in one line"],
      ],
      cases: ["H06"],
    },
    {
      fault: "Another program holds a lock on the database",
      moment: "for 4 s, longer than a lease, while runs execute",
      promised: "writes wait up to 20 s, reads go on, no claim is lost, nobody sees BUSY",
      notPromised: "writes beyond 20 s: `STORAGE_FAILED`, nothing changed",
      proofs: [
        [
          "fault/database",
          "for longer than a lease costs no run its claim, and reads are answered",
        ],
        ["integration/store-busy", "costs no worker its claim"],
      ],
      cases: ["B06", "B07", "S08"],
      asked: ["database locked by another program: 4 s, while runs execute"],
    },
    {
      fault: "Another program holds a lock on the database",
      moment: "for 8 s, while a host starts with ten runs to recover",
      promised: "the start waits for it; every run is recovered, none is stranded",
      proofs: [["fault/database", "for eight seconds while a host starts strands no run"]],
      cases: ["A09", "S08"],
      asked: ["database locked by another program: 8 s, while a host starts"],
    },
    {
      fault: "Another program writes",
      moment: "between our reads and writes",
      promised: "never felt: every transaction begins with the lock",
      proofs: [
        ["integration/store-busy", "is never felt, because every transaction begins with the lock"],
      ],
      cases: ["H04", "S08"],
    },
    {
      fault: "Read-only folder, folder of another user or open to others, network file system",
      moment: "at the start of a host",
      promised: "refused in one line with the remedy",
      proofs: [
        ["fault/disk", "that is read-only a host says so, and where"],
        ["fault/socket", "another user's folder is refused"],
        ["fault/host-start", "a host that cannot start"],
        [
          "unit/platform/network-folder",
          "a state folder on %s is refused, and a local disk is asked for",
        ],
      ],
      cases: ["H07", "I09", "J09"],
      asked: ["read-only folder: at the start of a host"],
    },
    {
      fault: "Database, lock or folder replaced, removed or moved",
      moment: "under a running host",
      promised:
        "the host notices within 5 s, acknowledges nothing more and ends; a missing socket alone is bound again",
      notPromised: "what it wrote into the removed file in those seconds",
      proofs: [
        ["fault/database", "a host under which somebody"],
        ["fault/host-end", "a host whose files are taken away"],
      ],
      cases: ["H08"],
    },
    {
      fault: "The lock removed, and another host started at once",
      moment: "under a running host",
      promised:
        "the newer epoch alone writes; the older host is refused at every door and ends within 5 s",
      proofs: [
        [
          "fault/host-deaths",
          "a host whose lock was removed gives way to the next, and nothing is done twice",
        ],
        ["integration/store-doors", "writes through no door any more"],
      ],
      cases: ["A07", "H08"],
    },
    {
      fault: "A foreign, older, newer or damaged database",
      moment: "at the start of a host",
      promised: "refused, byte for byte as it was, with how to keep it and how to begin anew",
      notPromised: "a migration, while the version is 1",
      proofs: [
        ["integration/store-open", "a database that is not ours to open"],
        ["fault/host-start", "leaves a foreign database as it was"],
        ["integration/store-open", "a damaged database"],
      ],
      cases: ["H07"],
    },
    {
      fault: "Power cut",
      moment: "after an acknowledgement",
      promised: "every COMMIT is synced before it is acknowledged (`synchronous = FULL`)",
      notPromised: "what a disk loses that lies about syncing",
      proofs: [
        [
          "integration/store-open",
          "is FULL unless somebody asks otherwise, and the digest is of the statements alone",
        ],
        ["integration/store-group-commit", "are not visible to another reader before COMMIT"],
      ],
      cases: ["H09"],
      asked: ["power cut: after an acknowledgement"],
    },
    {
      fault: "A reader pins the write-ahead log; a large log",
      moment: "while the host runs; at its start",
      promised:
        "it shrinks when the reader has gone; nothing truncates at start; a size over 64 MiB is logged",
      proofs: [
        ["integration/store-files", "shrink again after a reader has pinned the WAL for a while"],
        [
          "integration/store-files",
          "is put off by a foreign lock, and nobody hears of it but the log",
        ],
      ],
      cases: ["H01", "H02"],
    },
    {
      fault: "Years of runs",
      moment: "at the daily sweep, and at `prune`",
      promised:
        "`prune` and the daily sweep delete what ended long ago, give the room back, and never touch what is protected",
      proofs: [
        ["integration/operations-prune", "gives the space back, keeping what another run shares"],
        ["integration/store-files", "gives back the room of pruned runs"],
      ],
      cases: ["H06"],
    },
    {
      fault: "A reader of a stream is slow",
      moment: "while states change",
      promised:
        "short queries from a cursor: no write waits, states may be skipped, the last never",
      notPromised: "every state",
      proofs: [["integration/handlers-watch", "skips states for a slow reader and never the last"]],
      cases: ["H10"],
    },
  ],
};
