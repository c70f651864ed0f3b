// A limit on the size of files (`ulimit -f`), which SQLite tells as an input/output error. What a COMMIT
// came to is then unknown: the host says so, ends without another word, and the next one decides.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { answer, JOURNEYS, startRun } from "../support/journeys.ts";
import { HOST_ENTRY, newStateFolder } from "../support/real-host.ts";
import { endingOf, Voyage } from "../support/voyage.ts";
import type { CleanUp } from "../support/real-host.ts";

const { WAITING, COMPLETED } = RunStatus;
const STATE_IN_DOUBT = 74;
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

describe.skipIf(!hasPrlimit).concurrent("a host whose files may not grow (needs prlimit)", () => {
  test.for([
    { what: "a transition", input: (gate: string) => ({ holdsFor: gate }) },
    { what: "the settlement of an effect", input: (gate: string) => ({ lingersFor: [gate] }) },
  ])(
    "ends at $what without an answer, and the next one goes on",
    async ({ input }, { onTestFinished: cleanUp }) => {
      const voyage = new Voyage({ cleanUp });
      const gate = join(voyage.project, "gate");
      const runId = await startRun(voyage, "start", "travels", input(gate));
      const node = "holdsFor" in input(gate) ? "plan" : "write";
      await voyage.until(runId, ({ summary }) => summary?.node === node);
      const { pid, paths, exited } = await voyage.host();
      limit(pid, statSync(`${paths.database}-wal`).size);
      writeFileSync(gate, "");
      const { code, stderr } = await exited;
      expect(code).toBe(STATE_IN_DOUBT);
      expect(stderr).toBe(
        "pi-workflows host: the outcome of a commit is unknown (disk I/O error)\n",
      );
      await answer(voyage, runId);
      expect(endingOf(await voyage.untilStatus(runId, COMPLETED))).toEqual(JOURNEYS.travels.ending);
      expect(voyage.effects(runId)["stamp:stamp:1"]).toBe(1);
      await voyage.expectSound(runId);
    },
  );

  test("says why it does not start, and leaves nothing that keeps a later one from it", async ({
    onTestFinished: cleanUp,
  }) => {
    const state = newStateFolder(cleanUp);
    for (const kilobytes of [1, 8, 64, 256]) {
      const { code, stderr } = await runLimited(state, kilobytes, cleanUp);
      expect({ kilobytes, code }).toEqual({ kilobytes, code: 5 });
      expect(stderr).toMatch(/no room for .*host\.db \(EFBIG\)|disk I\/O error/);
    }
    expect(existsSync(join(state, "host.db"))).toBe(false);
    const voyage = new Voyage({ cleanUp, state });
    const runId = await startRun(voyage, "start", "travels");
    await voyage.untilStatus(runId, WAITING);
    await voyage.leave("kill");
    const { code, stderr } = await runLimited(state, 8, cleanUp);
    expect([5, STATE_IN_DOUBT]).toContain(code);
    expect(stderr).toMatch(/^pi-workflows host: .*(?:no room|I\/O error|unknown).*\n$/);
    await answer(voyage, runId);
    await voyage.untilStatus(runId, COMPLETED);
    expect(voyage.effects(runId)).toEqual(JOURNEYS.travels.effects);
    await voyage.expectSound(runId);
  });
});

function limit(pid: number, bytes: number): void {
  expect(spawnSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]).status).toBe(0);
}

interface End {
  readonly code: number | null;
  readonly stderr: string;
}

async function runLimited(state: string, kilobytes: number, cleanUp: CleanUp): Promise<End> {
  const args = [`--fsize=${kilobytes * 1024}:unlimited`, process.execPath, HOST_ENTRY];
  const child = spawn("prlimit", args, {
    env: { ...process.env, PI_WORKFLOWS_HOME: state, PI_WORKFLOWS_SPARES: "0" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  cleanUp(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  await once(child, "close");
  return { code: child.exitCode, stderr };
}
