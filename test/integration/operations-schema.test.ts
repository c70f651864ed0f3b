import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { attemptLifecycle } from "../../src/host/lifecycle/attempt.ts";
import { effectLifecycle } from "../../src/host/lifecycle/effect.ts";
import { interactionLifecycle } from "../../src/host/lifecycle/interaction.ts";
import { messageLifecycle } from "../../src/host/lifecycle/message.ts";
import { runLifecycle } from "../../src/host/lifecycle/run.ts";
import { sessionLifecycle } from "../../src/host/lifecycle/session.ts";
import { submissionLifecycle } from "../../src/host/lifecycle/submission.ts";
import { turnLifecycle } from "../../src/host/lifecycle/turn.ts";
import { openTestStore } from "../support/test-store.ts";

/** The lists that a table's CHECKs and triggers allow for its status, as the database has them. */
function statusLists(path: string, table: string): readonly (readonly string[])[] {
  const db = new Database(path, { readonly: true });
  try {
    const text = db.prepare("SELECT sql FROM sqlite_master WHERE name = ?").pluck().get(table);
    const lists = String(text).matchAll(/CHECK \(status IN \(([^)]*)\)\)/g);
    return [...lists].map(([, list = ""]) => list.match(/\w+/g) ?? []);
  } finally {
    db.close();
  }
}

describe("the status lists of the database", () => {
  test.each([
    ["runs", runLifecycle.statuses],
    ["attempts", attemptLifecycle.statuses],
    ["effects", effectLifecycle.statuses],
    ["interactions", interactionLifecycle.statuses],
    ["submissions", submissionLifecycle.statuses],
    ["messages", messageLifecycle.statuses],
    ["turns", turnLifecycle.statuses],
    ["sessions", sessionLifecycle.statuses],
  ])("of %s are those of its lifecycle", (table, statuses) => {
    const { path } = openTestStore();
    expect(statusLists(path, table)).toEqual([statuses]);
  });

  test("of its triggers name exactly the final statuses of a run", () => {
    const { path } = openTestStore();
    const db = new Database(path, { readonly: true });
    const triggers = "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'runs'";
    const texts = db.prepare(triggers).pluck().all();
    db.close();
    const lists = texts
      .flatMap((text) => [...String(text).matchAll(/(?:OLD|NEW)\.status IN \(([^)]*)\)/g)])
      .map(([, list = ""]) => list.match(/\w+/g));
    expect(lists).toHaveLength(2);
    const finals = runLifecycle.statuses.filter(runLifecycle.isFinal);
    for (const list of lists) expect(list).toEqual(finals);
  });
});
