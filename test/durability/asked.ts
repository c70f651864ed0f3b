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
  "SIGKILL of a headless Pi": ["in a turn"],
  "SIGKILL of a client": ["Pi, in a turn"],
  "SIGSTOP of the host": ["while runs execute"],
  "SIGSTOP of a worker": ["in the middle of a node"],
  "disk full": ["at a start", "at a transition", "at a settlement", "at a backup"],
  "database locked by another program": ["4 s, while runs execute", "8 s, while a host starts"],
  "power cut": ["after an acknowledgement"],
  "clock jump": ["forward", "back"],
  "output flood": ["300 MB without a newline", "2 GB"],
  "result of 20 MB": ["when a node returns it"],
  "setsid escapee": ["at a cancel", "at the SIGKILL of a worker", "at the SIGKILL of the host"],
  "malformed frames": ["at any time"],
  "read-only folder": ["at the start of a host"],
  "200 parallel starts with one key": ["at once"],
} as const;

type Faults = typeof ASKED;

/** One of them, as `fault: moment`. */
export type Asked = {
  [Fault in keyof Faults]: `${Fault}: ${Faults[Fault][number]}`;
}[keyof Faults];
