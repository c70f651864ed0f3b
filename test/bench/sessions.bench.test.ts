import { readFileSync } from "node:fs";
import { onTestFinished, expect, test } from "vitest";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";
import { attachedPi } from "../support/session-rig.ts";
import { clockMs, residentMb, until, untilRested } from "./bench-host.ts";
import { report } from "./report.ts";
import { median } from "./statistics.ts";

const SESSIONS = 20;
/** As often as a Pi reports while nothing happens. */
const REPORT_MS = 5_000;
const WATCHED_MS = 40_000;
/** Ticks per second of the process table, on every Linux there is. */
const TICKS = 100;

test(`${SESSIONS} sessions that are attached and idle`, async () => {
  const host = await startRealHost();
  await untilRested(host, false);
  const idle = await processorShare(host.pid);
  // The first attachment brings code into memory that the others share.
  await attachedPi(host.paths.socket, "bench-0");
  const before = await settledMemory(host);
  const pis = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) =>
      attachedPi(host.paths.socket, `bench-${index + 1}`),
    ),
  );
  const timer = setInterval(() => {
    for (const pi of pis) void pi.report().catch(() => undefined);
  }, REPORT_MS);
  onTestFinished(() => clearInterval(timer));
  const share = await processorShare(host.pid);
  const perSession = ((await settledMemory(host)) - before) / SESSIONS;
  report({
    measure: `processor of a host with ${SESSIONS} attached idle sessions`,
    value: share,
    unit: "%",
    bound: { is: "at most", value: 2 },
    reference: `of one core, over ${WATCHED_MS / 1_000} s; with no session ${idle.toFixed(2)} %`,
  });
  report({
    measure: "host memory of an attached idle session",
    value: perSession,
    unit: "MB",
    bound: { is: "at most", value: 1 },
    reference: `RSS beyond one session of ${before.toFixed(0)} MB, by ${SESSIONS}`,
  });
  expect(pis.every((pi) => pi.picture.holder)).toBe(true);
  await host.stop();
});

async function settledMemory(host: RealHost): Promise<number> {
  const samples: number[] = [];
  await until(() => samples.push(residentMb(host.pid)) >= 20);
  return median(samples);
}

/** Of one core, in percent. */
async function processorShare(pid: number): Promise<number> {
  const began = { ms: clockMs(), ticks: ticksOf(pid) };
  await until(() => clockMs() - began.ms > WATCHED_MS);
  const seconds = (clockMs() - began.ms) / 1_000;
  return ((ticksOf(pid) - began.ticks) / TICKS / seconds) * 100;
}

/** Processor time used so far, in ticks: user and system. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
