import { expect, test } from "vitest";
import { changeRun } from "../../../src/host/operations/step.ts";
import type { RunRecord } from "../../../src/host/records.ts";
import type { Change, Tx } from "../../../src/host/store/tx.ts";
import { runRecord } from "../../support/records.ts";

test("a change of a run names only what its row does not say already", () => {
  const changes: Change<RunRecord>[] = [];
  const put = {
    runChange: (_runId: string, change: Change<RunRecord>) => changes.push(change),
    event: () => undefined,
  };
  // The change asks nothing else of the transaction.
  const tx = { put } as unknown as Tx;
  const run = runRecord({ status: "running", node: "draft", blockReason: "no_progress" });
  const { run: changed } = changeRun(
    { tx, run, at: 7 },
    {
      event: "advance",
      change: { status: "running", node: "review", routing: run.routing, blockReason: undefined },
    },
  );
  expect(changes).toEqual([
    { node: "review", blockReason: undefined, revision: run.revision + 1, updatedAt: 7 },
  ]);
  expect(Object.keys(changes[0] ?? {})).toContain("blockReason");
  expect(changed).toMatchObject({ status: "running", node: "review", revision: run.revision + 1 });
});
