import type { Section } from "./row.ts";

export const PROCESSES_THAT_STAND_STILL: Section = {
  title: "Processes that stand still",
  rows: [
    {
      fault: "Host or worker stopped (SIGSTOP)",
      moment:
        "at every named point: before and after the COMMIT of every transition and command, those of sessions included, before an answer, after a spawn, around a proposal, between the steps of recovery",
      promised:
        "the run ends with the result, the events and the effects of an undisturbed one: a host goes on where it was, a worker is replaced when its claim has run out, and refused when it wakes",
      notPromised:
        "that an idempotent effect caught in the act is applied once: it is applied again under the same key",
      proofs: [
        ["fault/freeze-points", "a process that stands still for a while at"],
        ["fault/freeze-points-sessions", "a host that stands still for a while at"],
      ],
      cases: ["A07", "B01", "S02"],
      asked: [
        "SIGSTOP of the host: at every crash point",
        "SIGSTOP of a worker: at every crash point",
      ],
    },
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
      fault: "Host stopped (SIGSTOP)",
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
      moment: "while timers, deadlines, leases and pauses between attempts run",
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
      asked: ["clock jump: an hour and more forward", "clock jump: an hour and more back"],
    },
    {
      fault: "Machine suspended: host, workers, commands and clients stopped (SIGSTOP)",
      moment:
        "for three lease times, while nodes, commands and a held loop execute, a run asks and a timer falls due",
      promised:
        "no claim runs out, no node and no command runs a second time, the timer fires once, everything goes on, whoever wakes first",
      notPromised: "that a deadline which passed by the machine's own clock does not end its node",
      proofs: [
        ["fault/suspended", "three leases of sleep cost no run anything"],
        ["integration/activation-watch", "does not run out while the machine sleeps"],
      ],
      cases: ["B08"],
      asked: ["suspended machine: for three lease times"],
    },
    {
      fault: "Host stopped (SIGSTOP)",
      moment: "while a client follows a run",
      promised:
        "`watch` and `start --wait` say so, with the command that lets it go on, and follow the run to its end",
      notPromised: "that they say so at once: silence is told from rest after 30 s",
      proofs: [
        ["fault/clients", "watch says that a host stands still, and follows it on"],
        ["unit/cli/follow-run", "is told once that the host is silent, and when it speaks again"],
      ],
      cases: ["I02"],
      asked: ["SIGSTOP of the host: under a client that follows a run"],
    },
    {
      fault: "Client stopped (SIGSTOP)",
      moment: "while it watches a run or waits for its end",
      promised: "nobody waits for it, the host lets go of it, and it sees the end when it goes on",
      proofs: [["fault/clients", "watch and start --wait that stand still hold nobody up"]],
      cases: ["H10"],
      asked: ["SIGSTOP of a client: watch and start --wait"],
    },
    {
      fault: "Pi stopped (SIGSTOP)",
      moment: "in a step's turn",
      promised:
        "its run waits; when it goes on, so does its turn, and a standby takes the session meanwhile",
      notPromised: "that another Pi is started for a session of the user",
      proofs: [
        ["pi/stopped", "a Pi that stood still is attached again when it goes on"],
        [
          "integration/sessions-hub",
          "lets a standby hold the session when the holder falls silent",
        ],
      ],
      cases: ["D09"],
      asked: ["SIGSTOP of a client: Pi, in a turn"],
    },
    {
      fault: "Headless Pi stopped (SIGSTOP)",
      moment: "in a turn",
      promised:
        "it counts as gone after three heartbeats, is ended a minute later and replaced, and the step is shown again in the same session",
      notPromised: "that the half turn counts",
      proofs: [
        ["pi/stopped", "a headless Pi that stands still for good is replaced, in the same session"],
        [
          "integration/sessions-hub",
          "is left by a Pi that froze: its stream is open, but it says nothing",
        ],
      ],
      cases: ["C18"],
      asked: ["SIGSTOP of a headless Pi: in a turn"],
    },
    {
      fault: "Headless Pi and its command stopped (SIGSTOP)",
      moment: "when their run is cancelled",
      promised: "both are gone, though neither can hear a request",
      proofs: [
        ["fault/headless", "that stands still is ended all the same when its run is cancelled"],
      ],
      cases: ["C14"],
      asked: ["SIGSTOP of a headless Pi: at a cancel"],
    },
  ],
};
