/** Processes that real hosts start for Pi, whose extension the test plays itself. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { FakeStart } from "./headless-rig.ts";
import type { RealHost } from "./real-host.ts";
import type { PiFacts } from "./session-rig.ts";
import { PATIENCE_MS } from "./voyage.ts";
import type { Voyage } from "./voyage.ts";

const FAKE_PI = join(import.meta.dirname, "../fixtures/children/fake-pi.ts");

/** Tells a host of the program that passes for Pi. */
export function fakePiEnvironment({ project }: Voyage): Readonly<Record<string, string>> {
  const program = join(project, "pi");
  const run = `exec '${process.execPath}' '${FAKE_PI}' "$@"`;
  if (!existsSync(program)) {
    writeFileSync(program, `#!/bin/sh\nexport FAKE_PI_FOLDER='${project}'\n${run}\n`);
    chmodSync(program, 0o755);
  }
  return { PI_WORKFLOWS_PI_COMMAND: program, PI_CODING_AGENT_DIR: join(project, "agent") };
}

export class HeadlessSeat {
  readonly #voyage: Voyage;
  readonly #killed = new Set<number>();
  #pid = 0;

  constructor(voyage: Voyage) {
    this.#voyage = voyage;
  }

  /** What the extension in the Pi that this host started for the run would say of itself. */
  async facts({ host }: RealHost, runId: string): Promise<PiFacts> {
    const { pid, cwd, env } = await vi.waitUntil(
      async () => {
        const { workers } = await host.getStatus({});
        const own = workers.find((one) => one.runId === runId && one.state.startsWith("pi"));
        return own === undefined || this.#killed.has(own.pid) ? undefined : this.#startOf(own.pid);
      },
      { timeout: PATIENCE_MS, interval: 20 },
    );
    this.#pid = pid;
    const secret = env["PI_WORKFLOWS_SESSION_SECRET"] ?? "";
    const process = { cwd, sessionFile: "", mode: "rpc", pid };
    return { ...process, sessionId: `wf-${runId}`, takeOver: false, secret };
  }

  /** The Pi that attached last dies without a word. */
  kill(): void {
    this.#killed.add(this.#pid);
    process.kill(this.#pid, "SIGKILL");
  }

  #startOf(pid: number): FakeStart | undefined {
    const file = join(this.#voyage.project, `start-${pid}.json`);
    if (!existsSync(file)) return undefined;
    const text = readFileSync(file, "utf8");
    // Written in one go, but not seen in one.
    return text.endsWith("}") ? (JSON.parse(text) as FakeStart) : undefined;
  }
}
