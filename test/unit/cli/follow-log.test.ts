import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { followLog, readLog, Seen } from "../../../src/cli/follow-log.ts";
import type { LogFollow, LogPiece } from "../../../src/cli/follow-log.ts";
import { connectHost } from "../../../src/client/host-client.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { StatePaths } from "../../../src/platform/state-folder.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { startFakeHost, stateFolder } from "../../support/fake-host.ts";
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

const piece = (workerId: string, text: string, dropped = 0): LogPiece => ({
  workerId,
  data: Buffer.from(text),
  droppedBytes: BigInt(dropped),
});

/** A host that has these pieces, and with `lasts` more to come, until it is stopped. */
async function host(pieces: readonly LogPiece[], lasts = false): Promise<FakeHost> {
  const started = await startFakeHost(paths, {
    runs: {
      async *readRunLog({ follow }, { signal }) {
        yield* pieces;
        if (!follow || !lasts) return;
        await new Promise((resolve) => {
          signal.addEventListener("abort", resolve, { once: true });
        });
      },
    },
  });
  open.push({ close: () => started.stop() });
  return started;
}

async function follower(tailBytes?: number) {
  const client = await connectHost({ paths, startHost: false, hostEntry: "" });
  open.push(client);
  const seen: string[] = [];
  const notices: string[] = [];
  const stop = new AbortController();
  const follow: LogFollow = {
    client,
    clock: systemClock,
    paths,
    runId: "run_1",
    tailBytes,
    signal: stop.signal,
    notice: (text) => notices.push(text),
    write: ({ workerId, data, droppedBytes }) => {
      const dropped = droppedBytes === 0n ? "" : `[${droppedBytes}]`;
      seen.push(`${workerId}:${dropped}${Buffer.from(data).toString()}`);
      return Promise.resolve();
    },
  };
  return { follow, seen, notices, stop };
}

describe("whoever follows the output of a run", () => {
  test.each([
    [undefined, ["w1:one ", "w2:two", " more"]],
    [5, ["w1:e ", "w2:two", " more"]],
  ])("goes on with the next host and sees nothing twice (tail %s)", async (tail, expected) => {
    const first = await host([piece("w1", "one "), piece("w2", "two")], true);
    const { follow, seen, notices } = await follower(tail);
    const following = followLog(follow);
    await expect.poll(() => seen.length).toBe(2);
    await first.stop();
    await expect.poll(() => notices).toEqual(["lost the host; connecting again"]);
    await host([piece("w1", "one "), piece("w2", "two more")]);
    expect(await following).toBe("ended");
    expect(seen).toEqual([...expected.slice(0, 2), `w2:${expected[2]}`]);
  });

  test("leaves when the host was stopped and none comes back", async () => {
    const first = await host([piece("w1", "one")], true);
    const { follow, seen, notices } = await follower();
    const clock = new FakeClock();
    let end = "";
    const following = followLog({ ...follow, clock }).then((how) => (end = how));
    await expect.poll(() => seen.length).toBe(1);
    await first.stop();
    await expect.poll(() => notices.length).toBe(1);
    await expect
      .poll(() => {
        clock.advance(1_000);
        return end;
      })
      .toBe("host_gone");
    await following;
  });

  test("can leave at any time", async () => {
    await host([piece("w1", "one")], true);
    const { follow, seen, stop } = await follower();
    const following = followLog(follow);
    await expect.poll(() => seen.length).toBe(1);
    stop.abort();
    expect(await following).toBe("stopped");
  });

  test("may also want no more than what is there", async () => {
    await host([piece("w1", "one two")]);
    const { follow, seen } = await follower(3);
    await readLog(follow);
    expect(seen).toEqual(["w1:two"]);
  });
});

describe("what was seen of an output", () => {
  test("is known by its place, also when the middle was cut meanwhile", () => {
    const seen = new Seen();
    const first = seen.reading();
    expect(first(piece("w1", "0123456789"))).toMatchObject({ droppedBytes: 0n });
    const second = seen.reading();
    expect(second(piece("w1", "0123"))).toBeUndefined();
    const fresh = second(piece("w1", "cdef", 8));
    expect(Buffer.from(fresh?.data ?? []).toString()).toBe("cdef");
    expect(fresh?.droppedBytes).toBe(2n);
  });
});
