import { describe, expect, test } from "vitest";
import { choose, isOldNews } from "../../../src/host/operations/present.ts";
import type { RequestRow, SessionRows } from "../../../src/host/operations/present.ts";
import type { MessageRecord } from "../../../src/host/records-sessions.ts";

const NOW = 1_000_000;

function message(messageId: string, change: Partial<MessageRecord> = {}): MessageRecord {
  return {
    messageId,
    sessionId: "s",
    runId: "r",
    position: 1,
    kind: "step",
    reason: "first",
    status: "pending",
    node: "n",
    summary: "",
    text: { json: '""' },
    startsTurn: true,
    createdAt: NOW,
    ...change,
  };
}

interface RequestChange extends Partial<Omit<RequestRow, "interaction" | "open">> {
  readonly status?: "pending" | "validating";
  readonly kind?: "agent" | "human_decision";
  readonly open?: Partial<MessageRecord> | false;
}

function request(id: string, change: RequestChange = {}): RequestRow {
  const { open = {}, status = "pending", kind = "agent", ...rest } = change;
  return {
    interaction: { interactionId: id, runId: `run of ${id}`, kind, status },
    runStatus: "waiting",
    reached: false,
    busy: false,
    ...(open === false ? {} : { open: message(`ask ${id}`, open) }),
    ...rest,
  };
}

const note = (id: string, change: Partial<MessageRecord> = {}) =>
  message(id, { kind: "notification", startsTurn: false, ...change });
const result = (id: string, change: Partial<MessageRecord> = {}) =>
  message(id, { kind: "result", ...change });

function next(rows: Partial<SessionRows>) {
  const { message: chosen, place } = choose({ now: NOW, requests: [], news: [], ...rows });
  return [chosen?.messageId, place];
}

describe("a session's place", () => {
  test("is free when nothing has been shown: the oldest request is next", () => {
    expect(next({ requests: [request("a"), request("b")] })).toEqual(["ask a", undefined]);
  });

  test("belongs to what was shown, and the others wait behind it", () => {
    const requests = [request("a"), request("b", { reached: true, open: false })];
    expect(next({ requests })).toEqual([undefined, "b"]);
  });

  test("belongs to a person's decision too", () => {
    const decision = request("a", { kind: "human_decision", reached: true, open: false });
    expect(next({ requests: [decision, request("b")] })).toEqual([undefined, "a"]);
  });

  test("belongs to the oldest of several that were shown", () => {
    const requests = [request("a", { reached: true }), request("b", { reached: true })];
    expect(next({ requests })).toEqual(["ask a", "a"]);
  });

  test("stays with its holder while a result is validated, which shows nothing new", () => {
    const held = request("a", { reached: true, status: "validating", runStatus: "queued" });
    expect(next({ requests: [held, request("b")] })).toEqual([undefined, "a"]);
  });

  test.each(["paused", "blocked"] as const)("is given up by a run that is %s", (runStatus) => {
    const requests = [request("a", { reached: true, runStatus }), request("b")];
    expect(next({ requests })).toEqual(["ask b", undefined]);
  });

  test("is given up by a wait for the provider, and taken again after it", () => {
    const open = { reason: "rate_limit", availableAt: NOW + 1 } as const;
    const requests = [
      request("a", { reached: true, open }),
      request("b", { kind: "human_decision", open: { kind: "human_decision", startsTurn: false } }),
    ];
    expect(next({ requests, heldUntil: NOW + 1 })).toEqual(["ask b", undefined]);
    expect(next({ requests, now: NOW + 1, heldUntil: NOW + 1 })).toEqual(["ask a", "a"]);
  });

  test("is kept through the short back-off of a model that failed", () => {
    const open = { reason: "model_error", availableAt: NOW + 1 } as const;
    const requests = [request("a", { reached: true, open }), request("b")];
    expect(next({ requests })).toEqual([undefined, "a"]);
    expect(next({ requests, now: NOW + 1 })).toEqual(["ask a", "a"]);
  });
});

describe("what is shown next", () => {
  test("notes, then the holder's own, then how runs ended, then the next request", () => {
    const news = [result("r1"), note("n1"), note("n2"), result("r2")];
    const holder = request("a", { reached: true });
    expect(next({ news, requests: [holder, request("b")] })[0]).toBe("n1");
    expect(next({ news: news.slice(2), requests: [holder] })[0]).toBe("n2");
    expect(next({ news: [result("r1")], requests: [holder] })[0]).toBe("ask a");
    expect(next({ news: [result("r1"), result("r2")], requests: [request("b")] })[0]).toBe("r1");
    expect(next({ requests: [request("b")] })[0]).toBe("ask b");
  });

  test("how a run ended does not wait for an answer that somebody owes", () => {
    const owed = request("a", { reached: true, open: false });
    expect(next({ news: [result("r1")], requests: [owed] })).toEqual(["r1", "a"]);
  });

  test("the same again until it has been seen", () => {
    const requests = [request("a", { reached: true, open: { status: "offered" } }), request("b")];
    expect(next({ requests })).toEqual(["ask a", "a"]);
  });

  test("nothing before its time", () => {
    expect(next({ requests: [request("a", { open: { availableAt: NOW + 1 } })] })[0]).toBe(
      undefined,
    );
    expect(next({ requests: [request("a", { open: { availableAt: NOW } })] })[0]).toBe("ask a");
  });

  test("while a provider holds the session back, only what needs no model", () => {
    const requests = [
      request("a"),
      request("b", { kind: "human_decision", open: { kind: "human_decision", startsTurn: false } }),
    ];
    const rows = { requests, heldUntil: NOW + 1 };
    expect(next({ ...rows, news: [result("r"), note("n")] })[0]).toBe("n");
    expect(next({ ...rows, news: [result("r", { startsTurn: false })] })[0]).toBe("r");
    expect(next({ ...rows, news: [result("r")] })[0]).toBe("ask b");
    expect(next({ ...rows, now: NOW + 1 })[0]).toBe("ask a");
  });

  test("nothing of a request whose turn has not ended yet, which keeps its place if it has it", () => {
    const busy = request("a", { busy: true });
    expect(next({ requests: [busy, request("b")] })).toEqual(["ask b", undefined]);
    expect(next({ requests: [{ ...busy, reached: true }, request("b")] })).toEqual([
      undefined,
      "a",
    ]);
  });

  test("nothing of a request that is being validated", () => {
    const validated = request("a", { status: "validating", runStatus: "queued" });
    expect(next({ requests: [validated, request("b")] })).toEqual(["ask b", undefined]);
  });
});

describe("how a run ended", () => {
  test.each([
    [600_000, "pending", false],
    [600_001, "pending", true],
    [600_001, "offered", false],
  ] as const)("%i ms ago and %s is old news: %s", (age, status, old) => {
    expect(isOldNews(result("r", { createdAt: NOW - age, status }), NOW)).toBe(old);
  });

  test("only a result gets old", () => {
    expect(isOldNews(message("m", { createdAt: 0 }), NOW)).toBe(false);
  });
});
