/** One run whose first worker is sabotaged, and what is left of it. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { jsonValue } from "../../src/client/json-value.ts";
import { RejectionSchema } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { ValueKind } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import { reasonName } from "./answers.ts";
import { filesOf } from "./sabotage.ts";
import type { Order } from "./sabotage.ts";
import type { Clients, Target } from "./target.ts";
import { CANARY } from "./target.ts";

export interface Round {
  /** What the host said to the worker, and what became of the run. */
  readonly words: readonly string[];
  /** What must not be. */
  readonly findings: readonly string[];
}

/** A worker whose frame was swallowed waits for an answer, and so would we. */
const PATIENCE_MS = 1_000;
/** A worker that says nothing while a file is resolved is waited for longer than this. */
const START_MS = 4_000;
const LASTING: ReadonlySet<RunStatus> = new Set([
  RunStatus.WAITING,
  RunStatus.BLOCKED,
  RunStatus.COMPLETED,
  RunStatus.FAILED,
  RunStatus.CANCELLED,
]);

export async function playWorker(target: Target, order: Order): Promise<Round> {
  const { taken, report } = filesOf(target.orders);
  rmSync(report, { force: true });
  writeFileSync(`${target.orders}.new`, JSON.stringify(order));
  renameSync(`${target.orders}.new`, target.orders);
  const { runs } = target.clean;
  const started = await said(
    runs.startRun(
      {
        command: { requestId: randomUUID(), client: "fuzz" },
        workflow: "tours",
        projectDir: "/",
        input: jsonValue({ [CANARY]: 1 }),
        allowDuplicate: true,
      },
      { timeoutMs: START_MS },
    ),
  );
  const runId = started.answer?.receipt?.runId;
  const after = runId === undefined ? { words: [], findings: [] } : await follow(target, runId);
  rmSync(target.orders, { force: true });
  rmSync(taken, { force: true });
  const heard = existsSync(report) ? readFileSync(report, "utf8").trim().split("\n") : [];
  return {
    words: [...new Set([...heard, ...started.words, ...after.words])].map(
      (word) => `worker ${word}`,
    ),
    findings: [
      ...after.findings,
      ...heard.filter((word) => word.startsWith("WRONG")),
      ...started.words.filter((word) => word.startsWith("internal")),
    ],
  };
}

interface Said<T> {
  readonly answer?: T;
  readonly words: readonly string[];
}

async function said<T>(call: Promise<T>): Promise<Said<T>> {
  try {
    return { answer: await call, words: [] };
  } catch (error) {
    const { code, message } = ConnectError.from(error);
    const reasons = ConnectError.from(error).findDetails(RejectionSchema);
    const word = [codeToString(code), ...reasons.map(({ reason }) => reasonName(reason))].join(" ");
    return { words: [code === Code.Internal ? `${word}: ${message}` : word] };
  }
}

async function follow(target: Target, runId: string): Promise<Round> {
  const { clean } = target;
  const status = await lasting(clean, runId);
  const unreadable = await readAll(clean, runId);
  const command = { requestId: randomUUID(), client: "fuzz" };
  const cancelled = await said(clean.runs.cancelRun({ command, runId }));
  const states = Object.entries(RunStatus).find(([, number]) => number === status);
  return {
    words: [`leaves ${states?.[0] ?? "nothing"}`],
    findings: [...unreadable, ...cancelled.words.filter((word) => word.startsWith("internal"))],
  };
}

/** The first status that stays, or the one it has when patience ends. */
async function lasting({ runs }: Clients, runId: string): Promise<RunStatus | undefined> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let status: RunStatus | undefined;
  try {
    for await (const { run } of runs.watchRun({ runId }, { signal })) {
      status = run?.summary?.status ?? status;
      if (status !== undefined && LASTING.has(status)) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return status;
}

/** Whatever was stored of the run can be shown. */
async function readAll(
  { runs, interactions, effects }: Clients,
  runId: string,
): Promise<readonly string[]> {
  const values = [
    runs.getRunValue({ runId, kind: ValueKind.INPUT }),
    runs.getRunValue({ runId, kind: ValueKind.RESULT }),
    ...["plan", "write", "stamp", "ask"].map((node) =>
      runs.getRunValue({ runId, kind: ValueKind.OUTPUT, node }),
    ),
  ];
  const calls: readonly Promise<unknown>[] = [
    runs.getRun({ runId }),
    runs.listEvents({ runId }),
    runs.listRuns({}),
    interactions.listInteractions({ runId, includeClosed: true }),
    effects.listEffects({ runId }),
    ...values,
  ];
  const heard = await Promise.all(calls.map((call) => said(call)));
  return heard.flatMap(({ words }) => words).filter((word) => word.startsWith("internal"));
}
