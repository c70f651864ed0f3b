/** Faults that every release has to withstand, each at the moments that matter; a row has to answer each. */
export const ASKED = {
  "SIGKILL of the host": [
    "at every crash point",
    "while runs execute",
    "while a run waits",
    "while it stops",
    "while it recovers",
  ],
  "SIGKILL of a worker": ["at every crash point", "in the middle of a node"],
  "SIGKILL of a headless Pi": ["in a turn", "in the middle of a command"],
  "SIGKILL of a client": ["watch and start --wait", "Pi, in a turn"],
  "SIGSTOP of the host": [
    "at every crash point",
    "while runs execute",
    "under a client that follows a run",
  ],
  "SIGSTOP of a worker": ["at every crash point", "in the middle of a node"],
  "SIGSTOP of a headless Pi": ["in a turn", "at a cancel"],
  "SIGSTOP of a client": ["watch and start --wait", "Pi, in a turn"],
  "suspended machine": ["for three lease times"],
  "disk full": ["at a start", "at a transition", "at a settlement", "at a message", "at a backup"],
  "database locked by another program": [
    "4 s, while runs execute",
    "8 s, while runs execute",
    "8 s, while a host starts",
  ],
  "power cut": ["after an acknowledgement", "in any torn prefix of what came after"],
  "clock jump": ["an hour and more forward", "an hour and more back"],
  "output flood": ["300 MB without a newline", "2 GB of lines"],
  "result of 20 MB": ["when a node returns it"],
  "process.exit": ["right after a node's return"],
  "fork bomb of ten": ["at a cancel", "at the SIGKILL of a worker", "at the SIGKILL of the host"],
  "setsid escapee": ["at a cancel", "at the SIGKILL of a worker", "at the SIGKILL of the host"],
  "malformed frames": ["at any time", "by a fuzzer that mutates recorded streams"],
  "socket flood": ["5,000 calls at once", "slow readers of 1 byte/s", "half-open connections"],
  "read-only folder": ["at the start of a host"],
  "rename fails": ["under a running host"],
  "200 parallel starts with one key": ["at once"],
} as const;

type Faults = typeof ASKED;

/** One of them, as `fault: moment`. */
export type Asked = {
  [Fault in keyof Faults]: `${Fault}: ${Faults[Fault][number]}`;
}[keyof Faults];
