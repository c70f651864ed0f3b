import type { Section } from "./row.ts";

export const SOCKET: Section = {
  title: "The socket",
  rows: [
    {
      fault: "Paths of 90 to 200 bytes, with spaces and letters of several bytes",
      moment: "when the host listens",
      promised: "served in the folder, or at a short place that `host.json` names",
      proofs: [["fault/socket", "a state folder whose socket would have a path of"]],
      cases: ["I06", "K04", "S10"],
    },
    {
      fault: "Any umask",
      moment: "when files are made",
      promised: "folder 0700, socket and files 0600 from the moment they exist",
      proofs: [
        ["fault/host-start", "keeps folder, socket and files to its user, whatever the umask"],
      ],
      cases: ["I09", "S10"],
    },
    {
      fault: "A stale socket, or somebody's file or link in its place",
      moment: "when the host listens",
      promised: "the first is taken over by the holder of the lock, the others stay and are named",
      proofs: [
        ["fault/host-start", "takes over what a killed host left, under a new epoch"],
        ["fault/host-start", "says in one line why and what to do when"],
      ],
      cases: ["I09", "H08", "S10"],
    },
    {
      fault:
        "HTTP/1, TLS, random bytes, half and endless frames, ten thousand headers, compressed bombs, 2,000 idle connections",
      moment: "at any time",
      promised: "that connection ends; memory stays flat; others are answered",
      notPromised: "more than 1,000 connections at once",
      proofs: [
        ["fault/socket", "nonsense, half frames and idle crowds end at their own connection"],
        ["fault/server-floods", "a host that is served nonsense"],
      ],
      cases: ["I11"],
      asked: ["malformed frames: at any time"],
    },
    {
      fault: "A client vanishes, stops reading, or the host goes away under it",
      moment: "in the middle of a stream",
      promised:
        "streams are released; the client goes on from its cursor with the next host, or says that the host is silent",
      proofs: [
        [
          "integration/server",
          "forgets a connection whose client vanished in the middle of a stream",
        ],
        ["e2e/cli-host", "sees the run go on with the next host when this one is killed"],
        ["unit/cli/follow-run", "is told once that the host is silent, and when it speaks again"],
      ],
      cases: ["I01", "I02"],
    },
    {
      fault: "The host is restarted; more calls at once than a connection takes",
      moment: "between two calls; at any time",
      promised: "the call is repeated with the same key; surplus calls wait",
      proofs: [
        ["unit/client/host-client", "finds the next host when the first one died in mid-call"],
        ["integration/server", "waits its turn when its client has too many open"],
      ],
      cases: ["I03"],
    },
    {
      fault: "`buf curl` by Connect, gRPC and gRPC-Web",
      moment: "at any time",
      promised: "the documented lines work, an unknown method is unimplemented",
      notPromised: "HTTP/1.1",
      proofs: [
        ["e2e/buf-curl", "works: %s"],
        ["integration/server", "of an unknown service is told so at once"],
      ],
      cases: ["I05", "S10"],
    },
  ],
};
