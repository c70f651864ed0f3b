import type { Client } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { reporterOf } from "../../../src/extension/reports.ts";
import type { TurnFact } from "../../../src/extension/turn-facts.ts";
import type { SessionService } from "../../../src/gen/piworkflows/host/v1/session_service_pb.ts";

/** What the host is told of a turn. */
async function toldOf(fact: Partial<TurnFact>): Promise<Record<string, unknown>> {
  let told: Record<string, unknown> = {};
  const sessions = {
    reportTurn: (request: Record<string, unknown>) => {
      told = request;
      return Promise.resolve({});
    },
  } as unknown as Client<typeof SessionService>;
  const { signal } = new AbortController();
  const reporter = reporterOf({ sessions, sessionId: "s", attachmentId: "a", signal });
  const whole = { messageId: "msg_1", entryId: "e", replyText: "", replyWhole: true, ...fact };
  expect(await reporter.turn(whole)).toBe("taken");
  return told;
}

test("a reply that the host takes is told whole", async () => {
  const replyText = "é".repeat(4 * 1024 * 1024);
  const told = await toldOf({ end: "completed", replyText });
  expect(told["replyWhole"]).toBe(true);
  expect(told["replyText"] === replyText).toBe(true);
});

test("of a larger one only the beginning, as cut: no host would ever take it", async () => {
  const told = await toldOf({ end: "completed", replyText: "é".repeat(4 * 1024 * 1024 + 1) });
  expect(told["replyWhole"]).toBe(false);
  expect(String(told["replyText"]).length).toBeLessThan(20_000);
});

test("of an error that is a page its beginning", async () => {
  const error = { kind: "other", message: "x".repeat(20_000_000) } as const;
  const told = await toldOf({ end: "failed", error });
  expect(JSON.stringify(told["error"]).length).toBeLessThan(20_000);
});
