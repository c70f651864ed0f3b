import type { Section } from "./row.ts";

export const STRANGERS_AND_FLOODS: Section = {
  title: "Strangers, floods and malformed streams",
  rows: [
    {
      fault: "Mutated streams of clients and workers",
      moment: "at any time",
      promised: "each is refused in a known way; the host is well and its state sound",
      proofs: [
        ["fault/fuzz-corpus", "every kept stream is refused as before"],
        ["fault/fuzz-corpus", "every kept sabotage of a worker is refused as before"],
      ],
      cases: ["I11"],
      asked: ["malformed frames: by a fuzzer that mutates recorded streams"],
    },
    {
      fault: "A body of another length than was announced, with a call behind it",
      moment: "at any time",
      promised: "that connection ends, and nothing else",
      proofs: [
        ["fault/socket", "nonsense, half frames and idle crowds end at their own connection"],
      ],
      cases: ["I11"],
    },
    {
      fault: "A caller goes away",
      moment: "before its request was read; while the host stops",
      promised: "a cancelled call and no fault of the host; a call that was cut off is asked again",
      proofs: [
        ["integration/server", "whose caller goes away before it was read is no fault of ours"],
        ["unit/client/host-client", "finds the next host when the first one died in mid-call"],
      ],
      cases: ["I01"],
    },
    {
      fault: "5,000 calls; 200 starts with one key",
      moment: "at once",
      promised: "all are answered, memory is bounded; one run, and one id for everybody",
      proofs: [
        ["fault/client-floods", "five thousand calls at once"],
        ["fault/client-floods", "two hundred starts with one key"],
      ],
      cases: ["I03", "A05"],
      asked: ["socket flood: 5,000 calls at once"],
    },
    {
      fault: "Readers of a byte a second; connections whose client has finished speaking",
      moment: "at any time",
      promised: "others are answered within a second, memory is bounded, streams are released",
      notPromised: "a bound for replies that nobody reads, but that of one connection",
      proofs: [
        ["fault/client-floods", "readers of a byte now and then"],
        ["fault/client-floods", "connections whose client has finished speaking"],
      ],
      cases: ["I02", "I11"],
      asked: ["socket flood: slow readers of 1 byte/s", "socket flood: half-open connections"],
    },
    {
      fault: "Another user of the machine",
      moment: "at any time",
      promised: "reads, writes, connects to and signals nothing",
      notPromised: "anything against the administrator",
      proofs: [
        ["fault/other-users", "can do nothing with files, socket and processes of a host"],
        ["fault/other-users", "is kept out of every file"],
      ],
      cases: ["I09"],
    },
    {
      fault: "Names and paths that lead out of the folder",
      moment: "in any request",
      promised: "compared with rows and never walked, or refused",
      proofs: [["fault/untrusted", "is compared with rows and never walked"]],
      cases: ["J04"],
    },
    {
      fault: "A foreign project",
      moment: "when it is listed or completed",
      promised: "nothing of it is evaluated",
      notPromised: "that `start` or `validate` of it is safe",
      proofs: [["fault/untrusted", "has its workflows listed and completed"]],
      cases: ["J08"],
    },
    {
      fault: "Somebody looks for the secrets of workers, terminals and headless Pis",
      moment: "at any time",
      promised: "they are in no argument, log, report or row, and in no environment of others",
      notPromised: "anything about core dumps",
      proofs: [
        ["fault/secrets", "the secrets of workers and terminals"],
        ["fault/secrets", "the secret of a headless run's Pi"],
      ],
      cases: [],
    },
  ],
};
