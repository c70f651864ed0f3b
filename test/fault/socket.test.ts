// The socket is the door to everything: it must be found whatever the folder is called and however
// long its path is, be open to its owner alone, and survive whatever is sent to it.
import { randomBytes } from "node:crypto";
import { chownSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { connectionBytes, FLAG, headerBlock, TYPE } from "../fuzz/http2-bytes.ts";
import type { Frame, Headers } from "../fuzz/http2-bytes.ts";
import { newStateFolder, runHost, startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";

const QUICK = { PI_WORKFLOWS_SPARES: "0" };
const SOCKET_NAME = "/host.sock";
const MIB = 1024 * 1024;

// Where a socket goes whose path in the folder would be too long.
afterAll(() => {
  const name = `pi-workflows-${process.getuid?.() ?? 0}`;
  rmSync(join(tmpdir(), name), { recursive: true, force: true });
});

describe.concurrent("a state folder whose socket would have a path of", () => {
  const cases = [
    { bytes: 90, letters: "x", own: true },
    { bytes: 103, letters: "x", own: true },
    { bytes: 104, letters: "x", own: true },
    { bytes: 107, letters: "x", own: true },
    { bytes: 107, letters: "工 é", own: true },
    { bytes: 108, letters: "x", own: false },
    { bytes: 200, letters: "工 é", own: false },
  ];
  test.for(cases)(
    "$bytes bytes of $letters is served",
    async ({ bytes, letters, own }, { onTestFinished: cleanUp }) => {
      const parent = newStateFolder(cleanUp);
      const folder = padded(parent, bytes, letters);
      const host = await startRealHost({ cleanUp, folder, env: QUICK });
      const { socket, hostFile } = host.paths;
      expect(socket.startsWith(host.paths.folder)).toBe(own);
      expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(107);
      expect(JSON.parse(readFileSync(hostFile, "utf8"))).toMatchObject({ socket });
      expect((await host.host.getStatus({})).pid).toBe(host.pid);
      expect(statSync(socket).mode & 0o777).toBe(0o600);
    },
  );
});

test.skipIf(process.getuid?.() !== 0)(
  "another user's folder is refused (needs the right to give one away)",
  async () => {
    const folder = newStateFolder();
    chownSync(folder, 1234, 1234);
    const { code, stderr } = await runHost(folder);
    expect(code).not.toBe(0);
    expect(stderr).toContain("belongs to user 1234");
  },
);

test("nonsense, half frames and idle crowds end at their own connection", async () => {
  const host = await startRealHost({ env: QUICK });
  const before = Number((await host.host.getStatus({})).residentBytes);
  for (const bytes of NONSENSE) {
    const socket = await open(host);
    socket.write(bytes);
    await serving(host);
    socket.destroy();
  }
  const crowd: Socket[] = [];
  onTestFinished(() => {
    for (const socket of crowd) socket.destroy();
  });
  while (crowd.length < 2_000) {
    crowd.push(...(await Promise.all(Array.from({ length: 200 }, () => open(host)))));
    await serving(host);
  }
  expect(crowd.filter((socket) => !socket.destroyed).length).toBeGreaterThan(500);
  for (const socket of crowd) socket.destroy();
  await serving(host);
  const after = Number((await host.host.getStatus({})).residentBytes);
  expect(after - before).toBeLessThan(128 * MIB);
  const log = host.log().filter(({ level }) => level === "error");
  expect(log).toEqual([]);
});

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** An empty SETTINGS frame, and the first half of a HEADERS frame that promises 200 bytes. */
const SETTINGS = Buffer.from("000000040000000000", "hex");
const HALF_FRAME = Buffer.from("0000c8010400000001", "hex");
/** A frame that says it has 16 megabytes. */
const HUGE_FRAME = Buffer.from("ffffff000000000001", "hex");
const TLS_HELLO = Buffer.from(`160301020001000${"1fc0303".padEnd(77, "a5")}`, "hex");

/** A body longer than its header said, and behind it a call that the connection is too broken for. */
const LIE_AND_CALL = connectionBytes([
  { type: TYPE.SETTINGS, flags: 0, stream: 0, payload: Buffer.alloc(0) },
  ...call(1, [["content-length", "1"]]),
  ...call(3, []),
]);

function call(stream: number, extra: Headers): readonly Frame[] {
  const path = "/piworkflows.host.v1.HostService/GetStatus";
  const place: Headers = [
    [":method", "POST"],
    [":path", path],
    [":authority", "localhost"],
    [":scheme", "http"],
    ["content-type", "application/proto"],
  ];
  const payload = headerBlock([...place, ...extra]);
  return [
    { type: TYPE.HEADERS, flags: FLAG.END_HEADERS, stream, payload },
    { type: TYPE.DATA, flags: FLAG.END_STREAM, stream, payload: Buffer.alloc(9) },
  ];
}

const NONSENSE = [
  LIE_AND_CALL,
  Buffer.from("GET / HTTP/1.0\r\n\r\n"),
  TLS_HELLO,
  randomBytes(MIB),
  Buffer.concat([PREFACE, randomBytes(4_096)]),
  Buffer.concat([PREFACE, SETTINGS, HALF_FRAME]),
  Buffer.concat([PREFACE, SETTINGS, HUGE_FRAME]),
  Buffer.alloc(0),
];

/** A client that was there before is answered as ever. */
async function serving(host: RealHost): Promise<void> {
  const { pid, state } = await host.host.getStatus({});
  expect({ pid, state }).toEqual({ pid: host.pid, state: "serving" });
}

/** A connection, or what is left of one that the host did not take. */
async function open(host: RealHost): Promise<Socket> {
  const socket = connect(host.paths.socket);
  return new Promise((resolve) => {
    socket.on("error", () => socket.destroy());
    for (const event of ["connect", "close"]) socket.once(event, () => resolve(socket));
  });
}

/** A folder below `parent` in which the socket's path has exactly so many bytes. */
function padded(parent: string, bytes: number, letters: string): string {
  let room = bytes - Buffer.byteLength(parent + SOCKET_NAME) - 1;
  const unit = Buffer.byteLength(letters);
  const units = Math.floor(room / unit);
  room -= units * unit;
  return join(parent, letters.repeat(units) + "y".repeat(room));
}
