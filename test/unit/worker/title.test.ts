import { describe, expect, test } from "vitest";
import { titleOf } from "../../../src/worker/title.ts";
import { utf8Bytes } from "../../../src/workflow/json.ts";
import type { Workflow } from "../../../src/workflow/index.ts";

type Title = Workflow["title"];

function made(title: Title, input: unknown = { tag: "v1" }): Promise<string> {
  return titleOf(title === undefined ? {} : { title }, input);
}

describe("the title of a run", () => {
  test.each<[Title, string]>([
    [undefined, ""],
    ["a title", "a title"],
    [({ input }) => `notes for ${(input as { tag: string }).tag}`, "notes for v1"],
    [async ({ input }) => `notes for ${(input as { tag: string }).tag}`, "notes for v1"],
    [() => undefined, ""],
    [() => 5 as never, ""],
    [
      () => {
        throw new Error("no tag");
      },
      "",
    ],
    [() => Promise.reject(new Error("no tag")), ""],
    [" two\n lines\u0007\u2028", "two lines"],
    ["half \ud83d", "half \ufffd"],
  ])("is made of what the author stated (%#)", async (title, line) => {
    expect(await made(title)).toBe(line);
  });

  test("is cut at a whole letter where it is longer than the host takes", async () => {
    const title = await made(() => "é👩".repeat(100));
    expect(utf8Bytes(title)).toBeLessThanOrEqual(256);
    expect(title).toMatch(/^(?:é👩)+é?…$/u);
    const fits = "x".repeat(256);
    expect(await made(fits)).toBe(fits);
  });
});
