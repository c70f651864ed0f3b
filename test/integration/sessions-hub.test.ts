import { onTestFinished, describe, expect, test, vi } from "vitest";
import { HostError } from "../../src/host/errors.ts";
import { SessionHub } from "../../src/host/sessions/hub.ts";
import type { AttachRequest } from "../../src/host/sessions/hub.ts";
import { settleTurn } from "../../src/host/operations/turns.ts";
import { writeProgress } from "../../src/host/operations/progress.ts";
import { cancel, pause } from "../support/scenes.ts";
import { askingModel, SESSION, shown } from "../support/session-scenes.ts";
import { HUB_GRAPH, TestRig } from "../support/test-host.ts";
import { newest } from "../support/turn-acts.ts";

const FACTS: AttachRequest = {
  sessionId: SESSION,
  cwd: "/project",
  sessionFile: "",
  mode: "rpc",
  pid: 1,
  takeOver: false,
  secret: "",
};

function open(): { readonly rig: TestRig; readonly hub: SessionHub } {
  const rig = new TestRig();
  const hub = new SessionHub(rig.host);
  hub.start();
  onTestFinished(() => hub.stop());
  return { rig, hub };
}

/** Whatever was set off has been done, a few turns of the loop later. */
async function turned(): Promise<void> {
  for (let count = 0; count < 5; count += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

describe("the hub", () => {
  test("hands over what is next once the session is held, and one thing at a time", async () => {
    const { rig, hub } = open();
    const one = await askingModel(rig);
    const two = await askingModel(rig);
    expect(newest(rig, one.interactionId).status).toBe("pending");
    const holder = await hub.attach(FACTS);
    await vi.waitUntil(() => newest(rig, one.interactionId).status === "offered");
    expect(hub.picture(holder)).toMatchObject({
      present: { interactionId: one.interactionId },
      openMessageIds: [newest(rig, one.interactionId).messageId],
      runs: [
        { waitsFor: "a result of the model", behind: false },
        { waitsFor: "a result of the model", behind: true },
      ],
    });
    expect(newest(rig, two.interactionId).status).toBe("pending");
    await pause(rig, one.runId);
    await vi.waitUntil(() => newest(rig, two.interactionId).status === "offered");
    expect(hub.picture(holder).runs[0]?.waitsFor).toBe("a resume: it is paused");
  });

  test("tells the session of what changes in its runs, and of nothing else", async () => {
    const { rig, hub } = open();
    const { runId, proof } = await shown(rig, "hub");
    const holder = await hub.attach(FACTS);
    await turned();
    let touched = 0;
    holder.touch = () => {
      touched += 1;
    };
    const { generation } = proof;
    await writeProgress(rig.host, { runId, generation, node: "hub", text: "half way" });
    await vi.waitUntil(() => touched === 1);
    expect(hub.picture(holder).runs[0]).toMatchObject({
      update: "half way",
      nodes: HUB_GRAPH.nodes.length,
    });
    await rig.running("hub");
    await turned();
    expect(touched).toBe(1);
  });

  test("wakes the session when a time has come", async () => {
    const { rig, hub } = open();
    const { interactionId } = await askingModel(rig);
    const holder = await hub.attach(FACTS);
    await vi.waitUntil(() => newest(rig, interactionId).status === "offered");
    const { messageId } = newest(rig, interactionId);
    const error = { kind: "rate_limit", message: "429", retryAfterMs: 60_000 } as const;
    const ending = { sessionId: SESSION, messageId, replyText: "", replyWhole: false, error };
    await settleTurn(rig.host, { ...ending, outcome: "failed" });
    expect(hub.picture(holder).heldUntil).toBe(rig.at.clock.now() + 60_000);
    expect(hub.picture(holder).runs[0]?.waitsFor).toBe("the provider's rate limit");
    await turned();
    expect(newest(rig, interactionId).status).toBe("pending");
    rig.at.clock.advance(60_000);
    await vi.waitUntil(() => newest(rig, interactionId).status === "offered");
    expect(hub.picture(holder)).toMatchObject({ present: { reason: "rate_limit" } });
    expect(hub.picture(holder).heldUntil).toBeUndefined();
  });

  test("notices at the next report that somebody set the clock forward", async () => {
    const { rig, hub } = open();
    const { interactionId } = await askingModel(rig);
    const holder = await hub.attach(FACTS);
    await vi.waitUntil(() => newest(rig, interactionId).status === "offered");
    const { messageId } = newest(rig, interactionId);
    const error = { kind: "usage_limit", message: "429", retryAfterMs: 3_600_000 } as const;
    const ending = { sessionId: SESSION, messageId, replyText: "", replyWhole: false, error };
    await settleTurn(rig.host, { ...ending, outcome: "failed" });
    rig.at.clock.setWall(rig.at.clock.now() + 3_600_000);
    hub.hear(SESSION, holder.id);
    await vi.waitUntil(() => newest(rig, interactionId).status === "offered");
    expect(newest(rig, interactionId).reason).toBe("rate_limit");
  });

  test("hands over at the next report what the store could not take before", async () => {
    const { rig, hub } = open();
    const holder = await hub.attach(FACTS);
    const write = rig.at.store.write.bind(rig.at.store);
    const refuse = vi
      .spyOn(rig.at.store, "write")
      .mockImplementation((name, body) =>
        name === "offer"
          ? Promise.reject(new HostError("STORAGE_FULL", "no space"))
          : write(name, body),
      );
    const { interactionId } = await askingModel(rig);
    await vi.waitUntil(() => refuse.mock.calls.some(([name]) => name === "offer"));
    expect(newest(rig, interactionId).status).toBe("pending");
    refuse.mockRestore();
    await vi.waitUntil(() => {
      hub.hear(SESSION, holder.id);
      return newest(rig, interactionId).status === "offered";
    });
  });

  test("shows how a run ended for a minute, or until the next one starts", async () => {
    const { rig, hub } = open();
    const first = await askingModel(rig);
    const holder = await hub.attach(FACTS);
    await cancel(rig, first.runId);
    expect(hub.picture(holder).ended?.run.runId).toBe(first.runId);
    await turned();
    let touched = 0;
    holder.touch = () => {
      touched += 1;
    };
    rig.at.clock.advance(60_000);
    await vi.waitUntil(() => touched === 1);
    expect(hub.picture(holder).ended).toBeUndefined();
    const second = await askingModel(rig);
    await cancel(rig, second.runId);
    rig.at.clock.advance(1);
    expect(hub.picture(holder).ended?.run.runId).toBe(second.runId);
    await askingModel(rig);
    expect(hub.picture(holder).ended).toBeUndefined();
  });

  test("shows a step and the run that waits for it in one picture", async () => {
    const { rig, hub } = open();
    const holder = await hub.attach(FACTS);
    await turned();
    const seen: boolean[] = [];
    holder.touch = () => {
      const { runs, present } = hub.picture(holder);
      if (runs[0]?.waitsFor !== undefined && runs[0].waitsFor !== "") {
        seen.push(present !== undefined);
      }
    };
    await askingModel(rig);
    await vi.waitUntil(() => seen.length > 0);
    expect(seen[0]).toBe(true);
  });

  test("lets a standby hold the session when the holder falls silent", async () => {
    const { rig, hub } = open();
    const first = await hub.attach(FACTS);
    const second = await hub.attach({ ...FACTS, pid: 2 });
    rig.at.clock.advance(20_000);
    hub.hear(SESSION, first.id);
    rig.at.clock.advance(20_000);
    expect([first.holder, second.holder]).toEqual([true, false]);
    rig.at.clock.advance(10_000);
    expect([first.holder, second.holder]).toEqual([false, true]);
    await second.stored;
    expect(rig.reader.sessions.get(SESSION)).toMatchObject({ coordinatorEpoch: 2 });
    expect(hub.attachedSessions()).toEqual([
      { sessionId: SESSION, pid: 2, mode: "rpc", standbys: 1 },
    ]);
  });

  test("costs nothing while nothing happens: no timer is left", async () => {
    const { rig, hub } = open();
    const before = rig.at.clock.pending;
    const attached = await Promise.all(
      Array.from({ length: 20 }, (_, pid) => hub.attach({ ...FACTS, sessionId: `s${pid}`, pid })),
    );
    expect(rig.at.clock.pending).toBe(before);
    for (const attachment of attached) hub.detach(attachment);
    expect(hub.attachedSessions()).toEqual([]);
    await hub.stop();
    expect(rig.reader.sessions.attached()).toEqual([]);
  });

  test("does not take in a session that cannot be stored", async () => {
    const rig = new TestRig();
    const hub = new SessionHub(rig.failing("no space"));
    await expect(hub.attach(FACTS)).rejects.toThrow("no space");
    expect(hub.attachedSessions()).toEqual([]);
    await hub.stop();
  });
});

describe("the session of a headless run", () => {
  async function headless() {
    const { rig, hub } = open();
    const worker = await rig.running("think");
    await worker.ask({ kind: "agent", summary: "Think", prompt: "Think." });
    const sessionId = rig.run(worker.runId).originSession ?? "";
    return { rig, hub, runId: worker.runId, sessionId };
  }

  test("is held by the Pi that shows the run's secret", async () => {
    const { hub, runId, sessionId } = await headless();
    const secret = hub.headlessSecrets.issue(runId);
    const own = await hub.attach({ ...FACTS, sessionId, secret });
    expect(own).toMatchObject({ holder: true, facts: { headlessRun: runId } });
    expect(hub.picture(own).runs[0]?.run.runId).toBe(runId);
    // The same process again, whose stream broke.
    hub.detach(own);
    expect((await hub.attach({ ...FACTS, sessionId, secret })).holder).toBe(true);
  });

  test("is only looked at by whoever else opens it, even with the used secret", async () => {
    const { hub, runId, sessionId } = await headless();
    const secret = hub.headlessSecrets.issue(runId);
    const stranger = await hub.attach({ ...FACTS, sessionId, takeOver: true });
    expect(stranger.holder).toBe(false);
    const own = await hub.attach({ ...FACTS, sessionId, secret });
    const nested = await hub.attach({ ...FACTS, sessionId, secret, pid: 99, takeOver: true });
    expect([own.holder, nested.holder, nested.facts.headlessRun]).toEqual([true, false, undefined]);
  });

  test("is nobody else's before its first step either, which then still can be asked", async () => {
    const { rig, hub } = open();
    const worker = await rig.running("think");
    const sessionId = `wf-${worker.runId}`;
    const stranger = await hub.attach({ ...FACTS, sessionId, takeOver: true });
    expect(stranger.holder).toBe(false);
    await worker.ask({ kind: "agent", summary: "Think", prompt: "Think." });
    expect(rig.run(worker.runId).originSession).toBe(sessionId);
    expect(hub.picture(stranger).present).toBeUndefined();
  });

  test("is left by a Pi that froze: its stream is open, but it says nothing", async () => {
    const { rig, hub, runId, sessionId } = await headless();
    const secret = hub.headlessSecrets.issue(runId);
    const own = await hub.attach({ ...FACTS, sessionId, secret });
    rig.at.clock.advance(20_000);
    hub.hear(sessionId, own.id);
    rig.at.clock.advance(20_000);
    expect(hub.attachedSessions()).toHaveLength(1);
    rig.at.clock.advance(10_000);
    expect(hub.attachedSessions()).toEqual([]);
    await vi.waitUntil(() => rig.reader.sessions.get(sessionId)?.status === "detached");
    expect((await hub.attach({ ...FACTS, sessionId, secret })).holder).toBe(true);
  });

  test("is not the session of a process that shows the secret from elsewhere", async () => {
    const { hub, runId } = await headless();
    const secret = hub.headlessSecrets.issue(runId);
    const nested = await hub.attach({ ...FACTS, sessionId: "nested", secret });
    expect(nested).toMatchObject({ holder: true, facts: { sessionId: "nested" } });
    expect(nested.facts.headlessRun).toBeUndefined();
    expect(hub.picture(nested).runs).toEqual([]);
  });
});
