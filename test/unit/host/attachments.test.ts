import { describe, expect, test } from "vitest";
import { HostError } from "../../../src/host/errors.ts";
import { ATTACHMENTS_PER_SESSION_MAX, BEATS_MISSED_MAX } from "../../../src/host/limits.ts";
import { Attachment, Attachments } from "../../../src/host/sessions/attachments.ts";
import { HeadlessSecrets } from "../../../src/host/sessions/headless-secrets.ts";

function open() {
  const holders: string[] = [];
  const vacant: string[] = [];
  const attachments = new Attachments({
    onHolder: (holder) => holders.push(holder.id),
    onVacant: (sessionId) => vacant.push(sessionId),
  });
  let pids = 0;
  const join = (takeOver = false, mayHold = true, pid = (pids += 1)) => {
    const facts = { sessionId: "s", cwd: "/", sessionFile: "", mode: "tui", pid };
    const attachment = new Attachment(facts, mayHold);
    attachments.join(attachment, takeOver);
    return attachment;
  };
  return { attachments, holders, vacant, join };
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof HostError) return error.reason;
    throw error;
  }
  return "none";
}

describe("who holds a session", () => {
  test("the first one; a later one stands by", () => {
    const { attachments, holders, join } = open();
    const first = join();
    const second = join();
    expect([first.holder, second.holder]).toEqual([true, false]);
    expect(holders).toEqual([first.id]);
    expect(attachments.requireHolder("s", first.id)).toBe(first);
    expect(refusal(() => attachments.requireHolder("s", second.id))).toBe("SESSION_FENCED");
  });

  test("the one that waits longest when the holder leaves, and nobody after the last", () => {
    const { attachments, holders, vacant, join } = open();
    const [first, second, third] = [join(), join(), join()];
    attachments.leave(first);
    expect([second.holder, third.holder]).toEqual([true, false]);
    attachments.leave(third);
    attachments.leave(second);
    attachments.leave(second);
    expect(holders).toEqual([first.id, second.id]);
    expect(vacant).toEqual(["s"]);
    expect(attachments.sessionIds).toEqual([]);
  });

  test("whoever takes it over; the one before is fenced and told so by name", () => {
    const { attachments, join } = open();
    const first = join();
    const second = join(true);
    expect(second.holder).toBe(true);
    expect(first.ended?.reason).toBe("SESSION_FENCED");
    expect(refusal(() => attachments.requireHolder("s", first.id))).toBe("SESSION_FENCED");
    attachments.leave(first);
    expect(attachments.holderOf("s")).toBe(second);
  });

  test("an attachment that ended by itself may attach again, and is told that", () => {
    const { attachments, join } = open();
    const first = join();
    attachments.leave(first);
    expect(refusal(() => attachments.requireHolder("s", first.id))).toBe("REQUEST_INVALID");
  });

  test("the same process again, whose stream broke unnoticed, in the place it had", () => {
    const { attachments, holders, join } = open();
    const first = join();
    const standby = join();
    const again = join(false, true, first.facts.pid);
    expect([first.holder, standby.holder, again.holder]).toEqual([false, false, true]);
    expect(holders).toEqual([first.id, again.id]);
    expect(first.ended).toBeDefined();
    // Nobody took anything from it, so what it still has under way may be sent again.
    expect(refusal(() => attachments.requireHolder("s", first.id))).toBe("REQUEST_INVALID");
    attachments.leave(first);
    expect(attachments.holderOf("s")).toBe(again);
    const looks = join(false, true, standby.facts.pid);
    expect([looks.holder, attachments.ofSession("s").length]).toEqual([false, 2]);
    // It comes back without what lets it hold the session.
    join(false, false, first.facts.pid);
    expect(looks.holder).toBe(true);
  });

  test("never one that may only look, not even by a person's wish", () => {
    const { attachments, vacant, join } = open();
    const stranger = join(true, false);
    expect(stranger.holder).toBe(false);
    const own = join();
    expect(own.holder).toBe(true);
    expect(join(true, false).holder).toBe(false);
    attachments.leave(own);
    expect(stranger.holder).toBe(false);
    expect(vacant).toEqual(["s"]);
  });

  test("a session is open only so often at once", () => {
    const { join } = open();
    for (let count = 0; count < ATTACHMENTS_PER_SESSION_MAX; count += 1) join();
    expect(refusal(() => join())).toBe("LIMIT_EXCEEDED");
    expect(join(true).holder).toBe(true);
  });
});

describe("a holder that falls silent", () => {
  test("gives way to a standby after the third heartbeat without a word", () => {
    const { attachments, holders, join } = open();
    const [first, second] = [join(), join()];
    for (let beat = 0; beat < BEATS_MISSED_MAX; beat += 1) attachments.beat();
    first.missed = 0;
    for (let beat = 0; beat < BEATS_MISSED_MAX; beat += 1) attachments.beat();
    expect(first.holder).toBe(true);
    attachments.beat();
    expect([first.holder, second.holder]).toEqual([false, true]);
    expect(holders).toEqual([first.id, second.id]);
    // Nobody took it over by a wish, so it is not fenced for good.
    expect(first.ended).toBeUndefined();
    attachments.leave(second);
    expect(first.holder).toBe(true);
  });

  test("stays while nobody waits", () => {
    const { attachments, join } = open();
    const only = join();
    join(false, false);
    for (let beat = 0; beat < 10; beat += 1) attachments.beat();
    expect(only.holder).toBe(true);
  });
});

describe("a headless run's own Pi that falls silent", () => {
  test("counts as gone, though nobody waits, and may come again", () => {
    const { attachments, vacant } = open();
    const facts = { sessionId: "s", cwd: "/", sessionFile: "", mode: "rpc", pid: 7 };
    const own = new Attachment({ ...facts, headlessRun: "run_1" }, true);
    attachments.join(own, false);
    expect(attachments.needBeats).toBe(true);
    for (let beat = 0; beat < BEATS_MISSED_MAX; beat += 1) attachments.beat();
    own.missed = 0;
    for (let beat = 0; beat < BEATS_MISSED_MAX; beat += 1) attachments.beat();
    expect([own.holder, vacant]).toEqual([true, []]);
    attachments.beat();
    expect([own.holder, own.ended?.reason, vacant]).toEqual([false, "REQUEST_INVALID", ["s"]]);
    expect(attachments.needBeats).toBe(false);
    const again = new Attachment({ ...facts, headlessRun: "run_1" }, true);
    attachments.join(again, false);
    expect(again.holder).toBe(true);
  });
});

describe("the secret of a headless run's Pi", () => {
  const BEARER = { sessionId: "wf-run_1", pid: 7 };

  test("is of use to the first who shows it, again and again", () => {
    const secrets = new HeadlessSecrets();
    const secret = secrets.issue("run_1");
    expect(secrets.redeem(secret, BEARER)).toBe("run_1");
    expect(secrets.redeem(secret, BEARER)).toBe("run_1");
    expect(secrets.redeem(secret, { ...BEARER, pid: 8 })).toBeUndefined();
    expect(secrets.redeem(secret, { ...BEARER, sessionId: "other" })).toBeUndefined();
  });

  test("is worth nothing when it is wrong or revoked", () => {
    const secrets = new HeadlessSecrets();
    const secret = secrets.issue("run_1");
    secrets.revoke(secret);
    expect(secrets.redeem(secret, BEARER)).toBeUndefined();
    expect(secrets.redeem("", BEARER)).toBeUndefined();
  });
});
