import { rmSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { followRun, SILENCE_MS } from "../../../src/cli/follow-run.ts";
import type { Follow } from "../../../src/cli/follow-run.ts";
import { connectHost } from "../../../src/client/host-client.ts";
import type { HostClient } from "../../../src/client/host-client.ts";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { RunStatus } from "../../../src/gen/piworkflows/common/v1/run_pb.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { StatePaths } from "../../../src/platform/state-folder.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { refusal, startFakeHost, stateFolder } from "../../support/fake-host.ts";
import type { FakeHost } from "../../support/fake-host.ts";

let paths: StatePaths;
let remove: () => void;
const open: { close: () => unknown }[] = [];

beforeEach(() => {
  ({ paths, remove } = stateFolder());
});

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
  remove();
});

const state = (status: RunStatus) => ({ run: { summary: { runId: "run_1", status } } });

/** A host whose watch stream sends what is pushed, and lasts until told otherwise. */
class Script {
  readonly #queue: unknown[] = [];
  #wake = Promise.withResolvers<void>();

  push(item: unknown): void {
    this.#queue.push(item);
    this.#wake.resolve();
  }

  async start(): Promise<FakeHost> {
    const host = await startFakeHost(paths, { runs: { watchRun: () => this.#stream() } });
    open.push({ close: () => host.stop() });
    return host;
  }

  async *#stream() {
    for (;;) {
      while (this.#queue.length > 0) {
        const item = this.#queue.shift();
        if (item instanceof Error) throw item;
        if (item === "end") return;
        yield item as ReturnType<typeof state>;
      }
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }
}

interface Watcher {
  readonly follow: Follow;
  readonly seen: (RunStatus | undefined)[];
  readonly notices: string[];
  readonly stop: AbortController;
}

async function watcher(options: Partial<Follow> = {}): Promise<Watcher> {
  const client: HostClient = await connectHost({ paths, startHost: false, hostEntry: "" });
  open.push(client);
  const seen: (RunStatus | undefined)[] = [];
  const notices: string[] = [];
  const stop = new AbortController();
  const follow: Follow = {
    client,
    clock: systemClock,
    paths,
    runId: "run_1",
    signal: stop.signal,
    enough: () => false,
    viewer: {
      notice: (text) => notices.push(text),
      show: (view) => {
        seen.push(view.summary?.status);
        return Promise.resolve();
      },
    },
    ...options,
  };
  return { follow, seen, notices, stop };
}

describe("whoever follows a run", () => {
  test("sees each state and leaves with the terminal one", async () => {
    const script = new Script();
    await script.start();
    const { follow, seen, notices } = await watcher();
    script.push(state(RunStatus.RUNNING));
    script.push({});
    script.push(state(RunStatus.COMPLETED));
    expect(await followRun(follow)).toBe("terminal");
    expect(seen).toEqual([RunStatus.RUNNING, RunStatus.COMPLETED]);
    expect(notices).toEqual([]);
  });

  test("leaves at a state that is enough", async () => {
    const script = new Script();
    await script.start();
    const enough: Follow["enough"] = ({ summary }) => summary?.status === RunStatus.PAUSED;
    const { follow } = await watcher({ enough });
    script.push(state(RunStatus.PAUSED));
    expect(await followRun(follow)).toBe("enough");
  });

  test("is told what the host refuses", async () => {
    const script = new Script();
    await script.start();
    const { follow } = await watcher();
    script.push(refusal(Code.NotFound, { reason: Reason.RUN_NOT_FOUND, message: "no run run_1" }));
    await expect(followRun(follow)).rejects.toThrow("no run run_1");
  });

  test("can leave at any time", async () => {
    const script = new Script();
    await script.start();
    const { follow, seen, stop } = await watcher();
    script.push(state(RunStatus.RUNNING));
    const following = followRun(follow);
    await expect.poll(() => seen.length).toBe(1);
    stop.abort();
    expect(await following).toBe("stopped");
  });

  test("is told once that the host is silent, and when it speaks again", async () => {
    const script = new Script();
    await script.start();
    const clock = new FakeClock();
    const { follow, seen, notices } = await watcher({ clock });
    script.push(state(RunStatus.RUNNING));
    const following = followRun(follow);
    await expect.poll(() => seen.length).toBe(1);
    clock.advance(SILENCE_MS - 1_000);
    expect(notices).toEqual([]);
    clock.advance(SILENCE_MS);
    expect(notices).toEqual(["host not responding for 30 s; still waiting"]);
    script.push({});
    await expect.poll(() => notices.at(-1)).toBe("the host responds again");
    script.push(state(RunStatus.FAILED));
    expect(await following).toBe("terminal");
    expect(notices).toHaveLength(2);
  });

  test("goes on with the next host when the first one is gone", async () => {
    const first = new Script();
    const firstHost = await first.start();
    const { follow, seen, notices } = await watcher();
    first.push(state(RunStatus.RUNNING));
    const following = followRun(follow);
    await expect.poll(() => seen.length).toBe(1);
    await firstHost.stop();
    await expect.poll(() => notices).toEqual(["lost the host; connecting again"]);
    const second = new Script();
    second.push(state(RunStatus.COMPLETED));
    await second.start();
    expect(await following).toBe("terminal");
    expect(seen).toEqual([RunStatus.RUNNING, RunStatus.COMPLETED]);
  });

  test("leaves when the host was stopped and none comes back", async () => {
    const script = new Script();
    const host = await script.start();
    const clock = new FakeClock();
    const { follow, seen, notices } = await watcher({ clock });
    script.push(state(RunStatus.RUNNING));
    const following = followRun(follow);
    await expect.poll(() => seen.length).toBe(1);
    // What an orderly stop leaves: no socket and no file.
    rmSync(paths.hostFile);
    await host.stop();
    await expect.poll(() => notices.length).toBe(1);
    const ended = following.then((end) => ({ end }));
    let result: { end: string } | undefined;
    void ended.then((value) => {
      result = value;
      return value;
    });
    await expect
      .poll(() => {
        clock.advance(1_000);
        return result;
      })
      .toEqual({ end: "host_gone" });
  });
});
