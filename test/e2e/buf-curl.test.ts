import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";

// The lines of docs/debugging.md are run as they stand there: what a page shows must work.

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/debugging.md"), "utf8");
const BLOCKS = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
const [SOCKET_LINE = "", ...COMMANDS] = BLOCKS.flatMap((block) => block.trim().split("\n"));

/** What the answer to a line must hold; the first pattern that fits counts. */
const EXPECTED: readonly (readonly [RegExp, string])[] = [
  [/--list-services/, "piworkflows.host.v1.RunService"],
  [/--list-methods/, "piworkflows.host.v1.RunService/StartRun"],
  [/GetStatus/, '"state": "serving"'],
  [/WatchRuns/, '"snapshot": true'],
  [/GetRun /, "REASON_RUN_NOT_FOUND"],
  [/ListRuns/, "{}"],
  [/Prune/, "{}"],
  [/grep/, '"event":"host.started"'],
];

interface Answer {
  readonly output: string;
  /** Absent when the line was ended because it had shown what it must. */
  readonly code?: number | null;
}

/** Runs a line in a shell that has found the socket by the page's own line; ends a stream once it shows `until`. */
function runLine(host: RealHost, line: string, until?: string): Promise<Answer> {
  const path = [join(ROOT, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]];
  const shell = spawn("sh", ["-e", "-c", `${SOCKET_LINE}\n${line}`], {
    cwd: ROOT,
    env: { ...process.env, PI_WORKFLOWS_HOME: host.paths.folder, PATH: path.join(":") },
    // The group is ended whole: a shell does not hand a signal on.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve) => {
    let output = "";
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      if (until === undefined || !output.includes(until)) return;
      process.kill(-(shell.pid ?? 0), "SIGKILL");
      resolve({ output });
    };
    shell.stdout.on("data", take);
    shell.stderr.on("data", take);
    shell.once("close", (code) => resolve({ output, code }));
  });
}

describe("docs/debugging.md", () => {
  test("begins with the line that finds the socket", () => {
    expect(SOCKET_LINE).toMatch(/^SOCKET=/);
  });

  test.each(["connect", "grpc", "grpcweb"])(
    "shows a unary call, a stream and the listing by %s",
    (protocol) => {
      const own = COMMANDS.filter((line) => line.includes(`--protocol ${protocol} `));
      for (const what of ["--list-methods", "GetStatus", "WatchRuns"]) {
        expect(own.filter((line) => line.includes(what))).toHaveLength(1);
      }
    },
  );
});

describe("a line of docs/debugging.md", () => {
  let host: RealHost;
  const ends: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    host = await startRealHost({ cleanUp: (end) => ends.push(end) });
  });

  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test.each(COMMANDS)("works: %s", async (line) => {
    const expected = EXPECTED.find(([pattern]) => pattern.test(line))?.[1];
    if (expected === undefined) throw new Error("no expectation for this line");
    const isStream = line.includes("WatchRuns");
    const answer = await runLine(host, line, isStream ? expected : undefined);
    expect(answer.output).toContain(expected);
    expect(answer.code).toBe(isStream ? undefined : 0);
  });
});
