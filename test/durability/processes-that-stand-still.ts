import type { Section } from "./row.ts";

export const PROCESSES_THAT_STAND_STILL: Section = {
  title: "Processes that stand still",
  rows: [
    {
      fault: "Worker stopped (SIGSTOP)",
      moment: "for longer than its lease, in the middle of a node",
      promised:
        "its claim runs out, its process is ended, another worker takes over; whatever it still says is refused",
      proofs: [
        [
          "fault/worker-deaths",
          "a worker stopped for longer than its lease is ended, and another takes over",
        ],
        ["integration/operations-lease", "gives way to a new generation, which fences the old one"],
        [
          "integration/activation-watch",
          "of a stopped process runs out; its tree is gone before another takes over",
        ],
      ],
      cases: ["A07", "B01", "S02"],
      asked: ["SIGSTOP of a worker: in the middle of a node"],
    },
    {
      fault: "A worker speaks, also one with the same id",
      moment: "after its claim was given away",
      promised: "refused as claim loss with one of five reasons; no event, no failed attempt",
      proofs: [
        ["fault/worker-deaths", "what a worker proposes after its run was paused changes nothing"],
        [
          "integration/store-claimed-door",
          "refuses the owner of yesterday after a takeover, also by the same worker",
        ],
      ],
      cases: ["B02", "S02"],
    },
    {
      fault: "Author code holds the loop",
      moment: "for longer than the lease",
      promised:
        "no claim is lost; the block is shown with node, time and processor time, and the process gives way to others",
      notPromised: "that the node ends before its deadline",
      proofs: [
        [
          "fault/worker-deaths",
          "for longer than the lease loses no claim, is shown, and gives way to others",
        ],
      ],
      cases: ["B08", "C18"],
    },
    {
      fault: "Author code holds the loop, or ignores its signal",
      moment: "past its deadline",
      promised:
        "the process is ended, the attempt is timed out and routed; no second attempt ever runs beside the first",
      proofs: [
        ["fault/worker-deaths", "past its node's deadline is ended as timed out, and routed"],
        ["fault/effects-outcomes", "is tried again when time runs out"],
      ],
      cases: ["E13", "C18"],
    },
    {
      fault: "Host stopped (SIGSTOP), machine asleep",
      moment: "for longer than a lease, while a worker executes",
      promised: "no claim runs out by it; the worker goes on and is listened to again",
      notPromised: "that anybody is answered meanwhile",
      proofs: [
        [
          "fault/host-deaths",
          "a host stopped for longer than a lease takes no claim away when it goes on",
        ],
        ["e2e/cli-host", "that does not run is found by its file, and a stop ends it all the same"],
      ],
      cases: ["I02"],
      asked: ["SIGSTOP of the host: while runs execute"],
    },
    {
      fault: "Clock set forward, back, or asked for more than 24.8 days",
      moment: "while timers, deadlines and pauses between attempts run",
      promised:
        "everything due fires once and in order; durations are of a clock that never goes back",
      proofs: [
        [
          "integration/scheduler",
          "that is set forward lets everything due fire once, in due order",
        ],
        [
          "integration/operations-timers",
          "does not fire early when the clock is set back, nor twice when set forward",
        ],
        ["unit/platform/clock", "waits longer than Node's longest timer"],
      ],
      cases: ["B10", "B11"],
      asked: ["clock jump: forward", "clock jump: back"],
    },
  ],
};
