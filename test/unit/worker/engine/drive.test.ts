import { describe, expect, test, vi } from "vitest";
import { action, compute, idempotentEffect, wait } from "../../../../src/workflow/index.ts";
import { rigFor } from "../../../support/engine-rig.ts";

describe("an activation", () => {
  test("goes from node to node, one proposal for each", async () => {
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => 1 }),
        b: compute({ run: ({ outputs }) => Number(outputs["a"]) + 1 }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    await run();
    expect(link.said).toEqual(["ok -> b", "ok -> end ok"]);
    expect(link.follows[1]).toMatchObject({ resultJson: "2" });
  });

  test("only routes when the attempt was closed outside", async () => {
    const { link, run, state } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => expect.unreachable("it was done") }),
        b: compute({ run: () => 2 }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    const closed = { outcome: "ok", outputJson: "1", visit: 1, attempt: 1 } as const;
    state.record("a", { ...closed, startedAtMs: 0, finishedAtMs: 0 });
    await run(true);
    expect(link.said).toEqual(["routed -> b", "ok -> end ok"]);
  });

  test("waits out a short back-off itself and parks for a long one", async () => {
    let tries = 0;
    const { link, clock, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({
          run: () => {
            tries += 1;
            throw new Error(`try ${tries}`);
          },
          retry: { maxAttempts: 3, backoffMs: 1_000, factor: 10, maxBackoffMs: 60_000 },
        }),
      },
    });
    const done = run();
    await vi.waitFor(() => expect(link.said).toEqual(["failed -> a again"]));
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    expect(tries).toBe(1);
    clock.advance(1_000);
    await done;
    expect(tries).toBe(2);
    expect(link.said).toEqual(["failed -> a again", `timer ${clock.now() + 10_000} after failed`]);
  });

  test("starts no further node once it was stopped", async () => {
    const { link, stop, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => stop.abort(new Error("paused")) }),
        b: compute({ run: () => expect.unreachable("it was stopped") }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    await run();
    expect(link.said).toEqual(["ok -> b"]);
  });

  test("fails the attempt when its proposal broke a rule", async () => {
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: { a: compute({ run: () => 1 }) },
    });
    link.refuse = 1;
    await run();
    expect(link.said).toEqual(["failed -> end failed"]);
    expect(link.ends[0]).toMatchObject({ error: { message: "no such edge" } });
  });

  test("reserves an effect before it acts, under a key of run, type, node and visit", async () => {
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: action({
          effect: idempotentEffect("mail.send"),
          run: ({ effect }) => {
            link.said.push(`acting as ${effect.key}`);
            return null;
          },
        }),
      },
    });
    await run();
    expect(link.said).toEqual([
      "effect run_1:mail.send:a:1",
      "acting as run_1:mail.send:a:1",
      "ok -> end ok",
    ]);
    expect(link.ends[0]).toMatchObject({ effect: { kind: "applied", effectId: "eff_1" } });
  });

  test("parks at a wait", async () => {
    const until = "2030-01-01T00:00:00Z";
    const { link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: { a: wait({ until: () => until }) },
    });
    await run();
    expect(link.said).toEqual([`timer ${Date.parse(until)} after nothing`]);
  });

  test("tells a node that it is stopped, and nobody else after the node", async () => {
    const heard: unknown[] = [];
    const { stop, link, run } = rigFor({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({
          run: ({ signal }) => signal.addEventListener("abort", () => heard.push("a, too late")),
        }),
        b: compute({
          run: ({ signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener("abort", () => {
                heard.push(signal.reason);
                reject(new Error("stopped"));
              });
              stop.abort("paused");
            }),
        }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    await run();
    expect(heard).toEqual(["paused"]);
    expect(link.said[0]).toBe("ok -> b");
  });
});
