/** All that `docs/durability.md` is made of. */
import { COMMAND_LINE } from "./command-line.ts";
import { DISK_AND_DATABASE } from "./disk-and-database.ts";
import { EFFECTS } from "./effects.ts";
import { EVERYTHING_AT_ONCE } from "./everything-at-once.ts";
import { FULL_DISKS_AND_COPIES } from "./full-disks-and-copies.ts";
import { MANY_AT_ONCE } from "./many-at-once.ts";
import { PAUSE_AND_CANCEL } from "./pause-and-cancel.ts";
import { PI_AND_MODELS } from "./pi-and-models.ts";
import { PI_SESSIONS } from "./pi-sessions.ts";
import { PROCESSES_THAT_DIE } from "./processes-that-die.ts";
import { PROCESSES_THAT_STAND_STILL } from "./processes-that-stand-still.ts";
import type { Section } from "./row.ts";
import { SOCKET } from "./socket.ts";
import { SOURCES_AND_VALUES } from "./sources-and-values.ts";
import { STRANGERS_AND_FLOODS } from "./strangers-and-floods.ts";
import { TREES_AND_OUTPUT } from "./trees-and-output.ts";

export const SECTIONS: readonly Section[] = [
  PROCESSES_THAT_DIE,
  PROCESSES_THAT_STAND_STILL,
  MANY_AT_ONCE,
  PAUSE_AND_CANCEL,
  EFFECTS,
  TREES_AND_OUTPUT,
  SOURCES_AND_VALUES,
  PI_SESSIONS,
  PI_AND_MODELS,
  DISK_AND_DATABASE,
  FULL_DISKS_AND_COPIES,
  SOCKET,
  STRANGERS_AND_FLOODS,
  COMMAND_LINE,
  EVERYTHING_AT_ONCE,
];

/** The ten ways in which most programs of this kind break first. */
export const SCENARIOS: Readonly<Record<string, string>> = {
  S01: "an effect caught between the outside call and its settlement",
  S02: "a frozen worker that wakes after it was replaced",
  S03: "a process tree that will not die",
  S04: "delivery to Pi while it streams, ends a turn, compacts or rests",
  S05: "the source changed between start and resume",
  S06: "output without end, one giant line, a giant result, an exit after the return",
  S07: "odd values and odd errors",
  S08: "another program's lock on the database",
  S09: "the command line in scripts",
  S10: "the socket's path, its permissions and what is left of it",
};

/** Field cases that need no row, and why. */
export const WITHOUT_MEANING: Readonly<Record<string, string>> = {
  E06: "a failed run is terminal and `restart` begins a new one from its input; a failure that should be survived is routed in the graph.",
  E07: "there are no budgets; the one limit on work, `maxSteps`, is checked by the host before a step begins.",
  E08: "a graph has no parallel branches, so there are no siblings to end.",
  L02: "no hook is called: what waits and what ended is told in the session of the run, and to whoever reads `watch`, `events` or `interactions`.",
  L06: "nothing is handed to a running node; the user talks to the model of a step in its own session, which changes nothing of the step.",
  L07: "a run cannot be forked at a node; `restart` begins a new run from the same input, with effect keys of its own.",
};
