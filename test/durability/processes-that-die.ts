import type { Section } from "./row.ts";

export const PROCESSES_THAT_DIE: Section = {
  title: "Processes that die",
  rows: [
    {
      fault: "Any process killed",
      moment:
        "at every named point: before and after the COMMIT of every transition and command, before an answer, after a spawn, around a proposal, between the steps of recovery",
      promised:
        "the run ends with the result, the events and the effects of an undisturbed one; every command repeated under its key gets its receipt",
      notPromised:
        "that an idempotent effect caught in the act is applied once: it is applied again under the same key",
      proofs: [
        ["fault/crash-points", "a death at"],
        ["fault/crash-points", "the table of deaths"],
        ["integration/store-open", "comes up whole after its host was killed at"],
      ],
      cases: ["A02", "A04", "A05", "A06", "A10"],
      asked: [
        "SIGKILL of the host: at every crash point",
        "SIGKILL of a worker: at every crash point",
      ],
    },
    {
      fault: "Worker killed (-9)",
      moment: "in the middle of a node",
      promised: "another worker tries the node again at once; what was committed stays",
      notPromised: "that a `compute` node runs once",
      proofs: [
        ["fault/crash-points", "a death at > $title changes nothing"],
        ["integration/operations-losses", "a worker that dies without evidence"],
      ],
      cases: ["A01", "A15"],
      asked: ["SIGKILL of a worker: in the middle of a node"],
    },
    {
      fault: "Worker dies three times",
      moment: "without progress between its deaths",
      promised:
        "the run is blocked with the end of what the worker printed, and is not started again until a person resumes it",
      proofs: [
        [
          "fault/worker-deaths",
          "a worker that dies three times blocks its run, with the end of what it printed",
        ],
      ],
      cases: ["F04"],
    },
    {
      fault:
        "`process.exit`, unhandled rejection, uncaught exception, out of memory in author code",
      moment: "while a node executes",
      promised:
        "that attempt fails with a message that says so, and is routed; a result that was proposed before counts",
      proofs: [["fault/worker-deaths", "author code that ends its process fails its attempt by"]],
      cases: ["C16", "S06"],
    },
    {
      fault: "Host killed",
      moment: "while runs execute",
      promised:
        "workers and their commands end by themselves, also with a held loop; the next host ends what is left before it launches a run again",
      proofs: [
        ["fault/host-deaths", "takes its workers with it, also those whose loop is held"],
        ["fault/process-trees", "a host killed and started again first ends what its worker left"],
        [
          "fault/supervisor-orphans",
          "leaves what its worker left to the next host, which ends it and tells",
        ],
      ],
      cases: ["C01", "C02", "A02", "S03"],
      asked: ["SIGKILL of the host: while runs execute"],
    },
    {
      fault: "Host killed",
      moment: "while a run waits, or a timer falls due without a host",
      promised: "the answer is taken afterwards, once; the timer fires once, right after the start",
      notPromised: "that anything happens while no host runs",
      proofs: [
        ["fault/host-deaths", "while a run waits for an answer takes the answer afterwards, once"],
        ["fault/host-deaths", "while a timer falls due fires it once when it is back"],
      ],
      cases: ["B12"],
      asked: ["SIGKILL of the host: while a run waits"],
    },
    {
      fault: "Host killed",
      moment: "while it stops, or right after it acknowledged",
      promised: "nothing acknowledged is lost",
      proofs: [
        ["fault/host-deaths", "while it stops, with an effect being applied, loses nothing"],
        [
          "fault/host-deaths",
          "what resume acknowledged still holds when the host is killed right after",
        ],
      ],
      cases: ["A11"],
      asked: ["SIGKILL of the host: while it stops"],
    },
    {
      fault: "Recovery interrupted, or unable to write",
      moment: "between any two of its steps; while another program holds the database",
      promised: "it does the rest at the next start; a lock on the database is waited for",
      proofs: [
        ["fault/crash-points", "a death at > $title changes nothing"],
        ["integration/recovery", "a recovery that is itself interrupted"],
        ["fault/database", "for eight seconds while a host starts strands no run"],
      ],
      cases: ["A08", "A09", "S08"],
      asked: ["SIGKILL of the host: while it recovers"],
    },
    {
      fault: "Host killed",
      moment: "while the Pi of a headless run works, also in the middle of a command of the model",
      promised:
        "that Pi ends with its host, what it leaves is ended by the next one; the step is shown again in the same session, which counts against nobody",
      notPromised: "that the half turn counts",
      proofs: [
        [
          "pi/headless",
          "the death of the host leaves no Pi, and the next host goes on in the same session",
        ],
        ["pi/headless", "a host that is killed in the middle of a command leaves nothing of it"],
        ["fault/headless", "loses its turn without blame when its host died"],
      ],
      cases: ["C01", "C02"],
    },
    {
      fault: "The Pi of a headless run dies, cannot be started, is deaf, or has no model",
      moment: "at its start, and in a turn",
      promised:
        "it is replaced and the step shown again; after three starts that came to nothing the attempt fails `pi_unavailable` with its last words and what to do, and the graph may route it",
      proofs: [
        [
          "fault/headless",
          "that dies in a turn loses it, is replaced, and the step is shown again",
        ],
        ["fault/headless", "after three starts that came to nothing, with their last words"],
        ["pi/headless", "without Pi the step fails with what to do about it"],
        ["pi/headless", "without a model the step fails at once and says how to get one"],
      ],
      cases: ["C12"],
      asked: ["SIGKILL of a headless Pi: in a turn"],
    },
    {
      fault: "Cancel or pause",
      moment: "while the Pi of a headless run works",
      promised: "that Pi, its commands and what they started in sessions of their own are gone",
      proofs: [
        ["pi/headless", "a cancel ends the run's Pi with everything that it runs"],
        ["pi/headless", "a pause ends the Pi, and a resume goes on with the step"],
        ["fault/headless", "is ended with what it started, also when it will not end"],
      ],
      cases: ["C10", "C14"],
    },
    {
      fault: "Host told to stop (SIGTERM, Ctrl-C, `host stop`)",
      moment: "at any time",
      promised:
        "takes nothing new, waits up to 10 s for effects, ends its workers, and is gone with all of them",
      proofs: [
        ["fault/host-end", "a host that is told to stop"],
        ["integration/scheduler-drain", "launches nothing more, not even what is due"],
        ["fault/process-trees", "a host that stops leaves no process behind"],
      ],
      cases: ["C15", "I03"],
    },
    {
      fault: "`process.exit`",
      moment: "right after a node has returned",
      promised:
        "the value is taken whole, or the attempt fails by name and is routed; nothing of it is taken by halves",
      notPromised: "which of two neighbouring nodes an exit belongs to that comes between them",
      proofs: [["fault/worker-deaths", "a node that returns and has its process exit in"]],
      cases: ["C16", "S06"],
      asked: ["process.exit: right after a node's return"],
    },
    {
      fault: "Headless Pi killed",
      moment: "in the middle of a command of the model",
      promised:
        "what it had started, also in a session of its own, is gone before its successor is started",
      proofs: [
        [
          "fault/headless",
          "that dies in the middle of a command leaves nothing of it beside its successor",
        ],
      ],
      cases: ["C02"],
      asked: ["SIGKILL of a headless Pi: in the middle of a command"],
    },
    {
      fault: "Client killed",
      moment: "while it watches a run or waits for its end",
      promised:
        "the run goes on, the host lets go of the client, and the same key finds the same run and its end",
      proofs: [
        ["fault/clients", "watch and start --wait that are killed leave the run alone"],
        [
          "integration/server",
          "forgets a connection whose client vanished in the middle of a stream",
        ],
      ],
      cases: ["A05", "I01"],
      asked: ["SIGKILL of a client: watch and start --wait"],
    },
  ],
};
