import { existsSync, writeFileSync } from "node:fs";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Reason } from "../../../src/gen/piworkflows/common/v1/error_pb.ts";
import { AttachRig, rejection } from "../../support/attach-rig.ts";
import type { Stream } from "../../support/attach-rig.ts";

async function attached(): Promise<AttachRig> {
  const rig = new AttachRig();
  await rig.passes(0);
  rig.stream.picture();
  await rig.passes(0);
  return rig;
}

describe("attaching", () => {
  test("starts a host, says who attaches, and hands on the picture", async () => {
    const rig = await attached();
    expect(rig.starts).toEqual([true]);
    expect(rig.stream.request).toMatchObject({ sessionId: "s1", mode: "tui", takeOver: false });
    expect(rig.pictures).toHaveLength(1);
    expect(rig.states).toEqual([{ kind: "attached", holder: true }]);
  });

  test("as a standby is told", async () => {
    const rig = new AttachRig();
    await rig.passes(0);
    rig.stream.picture({ holder: false });
    await rig.passes(0);
    expect(rig.states).toEqual([{ kind: "attached", holder: false }]);
  });

  test("a heartbeat is a picture only if it shows one", async () => {
    const rig = await attached();
    rig.stream.picture({ heartbeat: true, attachmentId: "" });
    await rig.passes(0);
    expect(rig.pictures).toHaveLength(1);
    rig.stream.picture({ heartbeat: true });
    await rig.passes(0);
    expect(rig.pictures).toHaveLength(2);
  });
});

describe("a stream that breaks", () => {
  test.each([
    ["ends", (stream: Stream) => stream.end()],
    [
      "is cancelled by a dying host",
      (stream: Stream) => stream.fail(new ConnectError("", Code.Canceled)),
    ],
    [
      "finds no host any more",
      (stream: Stream) => stream.fail(new ConnectError("", Code.Unavailable)),
    ],
    [
      "belongs to a stopping host",
      (stream: Stream) => stream.fail(rejection(Reason.HOST_STOPPING)),
    ],
  ])("because it %s is opened again", async (_, breaks) => {
    const rig = await attached();
    breaks(rig.stream);
    await rig.passes(0);
    expect(rig.states.at(-1)).toEqual({ kind: "connecting" });
    expect(rig.closed).toBe(1);
    await rig.passes(250);
    expect(rig.streams).toHaveLength(2);
    rig.stream.picture();
    await rig.passes(0);
    expect(rig.states.at(-1)).toEqual({ kind: "attached", holder: true });
  });

  test("because nothing was heard for long is opened again", async () => {
    const rig = await attached();
    await rig.passes(20_000);
    rig.stream.picture({ heartbeat: true });
    await rig.passes(0);
    await rig.passes(24_999);
    expect(rig.stream.aborted).toBe(false);
    await rig.passes(1);
    expect(rig.stream.aborted).toBe(true);
    await rig.passes(250);
    expect(rig.streams).toHaveLength(2);
  });

  test("starts no host again, for somebody may have stopped it", async () => {
    const rig = await attached();
    rig.stream.end();
    await rig.passes(250);
    expect(rig.starts).toEqual([true, false]);
  });

  test("starts a host again when the last one died", async () => {
    const rig = await attached();
    const host = { startTime: "0", bootId: "b", version: "1", socket: "s", epoch: 1, pid: 2 ** 22 };
    writeFileSync(rig.paths.hostFile, JSON.stringify(host));
    expect(existsSync(rig.paths.hostFile)).toBe(true);
    rig.stream.end();
    await rig.passes(250);
    expect(rig.starts).toEqual([true, true]);
  });
});

describe("a host that cannot be reached", () => {
  test("is told once it is certain, and tried again ever more slowly", async () => {
    const rig = new AttachRig(new Error("no host is running"));
    await rig.passes(0);
    expect(rig.states).toEqual([{ kind: "connecting" }]);
    await rig.passes(250);
    expect(rig.states.at(-1)).toEqual({ kind: "down", reason: "no host is running" });
    await rig.passes(499);
    expect(rig.starts).toHaveLength(2);
    await rig.passes(1);
    expect(rig.starts).toHaveLength(3);
    for (let attempt = 0; attempt < 10; attempt += 1) await rig.passes(10_000);
    expect(rig.starts.length).toBeGreaterThan(10);
  });

  test("is tried at once when somebody knows that it answers", async () => {
    const rig = new AttachRig(new Error("no host is running"));
    for (let attempt = 0; attempt < 6; attempt += 1) await rig.passes(10_000);
    rig.unreachable = undefined;
    rig.loop.retryNow();
    await rig.passes(0);
    expect(rig.streams).toHaveLength(1);
  });

  test("because of its version says so, in the host's words", async () => {
    const rig = await attached();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      rig.stream.fail(rejection(Reason.VERSION_SKEW, "run: pi-workflows host restart"));
      await rig.passes(500);
    }
    expect(rig.states).toContainEqual({ kind: "down", reason: "run: pi-workflows host restart" });
  });
});

describe("a session that another Pi took over", () => {
  const fenced = async (): Promise<AttachRig> => {
    const rig = await attached();
    rig.stream.fail(rejection(Reason.SESSION_FENCED));
    await rig.passes(0);
    return rig;
  };

  test("is never attached again by itself", async () => {
    const rig = await fenced();
    expect(rig.states.at(-1)).toEqual({ kind: "fenced" });
    await rig.passes(3_600_000);
    expect(rig.streams).toHaveLength(1);
  });

  test("is taken back by a person's wish, once", async () => {
    const rig = await fenced();
    rig.loop.takeOver();
    await rig.passes(0);
    expect(rig.stream.request).toMatchObject({ takeOver: true });
    rig.stream.picture();
    await rig.passes(0);
    rig.stream.end();
    await rig.passes(250);
    expect(rig.streams).toHaveLength(3);
    expect(rig.stream.request).toMatchObject({ takeOver: false });
  });
});

test("a standby takes the session over on a new stream", async () => {
  const rig = await attached();
  const before = rig.stream;
  rig.loop.takeOver();
  await rig.passes(0);
  expect(before.aborted).toBe(true);
  expect(rig.stream.request).toMatchObject({ takeOver: true });
});

test("a wish to take over that meets no host is kept, and does not spin", async () => {
  const rig = await attached();
  rig.unreachable = new Error("no host is running");
  rig.loop.takeOver();
  await rig.passes(0);
  expect(rig.starts.length).toBeLessThan(4);
  rig.unreachable = undefined;
  await rig.passes(20_000);
  expect(rig.stream.request).toMatchObject({ takeOver: true });
});

test("closing ends the stream, the pause and the loop", async () => {
  const rig = await attached();
  rig.loop.close();
  await rig.ended;
  expect(rig.stream.aborted).toBe(true);
  expect(rig.clock.pending).toBe(0);
  const waiting = new AttachRig(new Error("no host is running"));
  await waiting.passes(0);
  waiting.loop.close();
  await waiting.ended;
  expect(waiting.clock.pending).toBe(0);
});
