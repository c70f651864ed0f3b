import { describe, expect, test } from "vitest";
import { retryAfterMs } from "../../../src/extension/retry-after.ts";

const NOW = Date.UTC(2025, 0, 1);

describe("the time a provider names", () => {
  test.each([
    ["429 Please try again in 20s.", 20_000],
    ["Rate limit reached. Please try again in 1m30.5s.", 90_500],
    ["Please try again in 429ms", 429],
    ["You have hit your ChatGPT usage limit (plus plan). Try again in ~12 min.", 720_000],
    ["retry after 30 seconds", 30_000],
    ["Please retry in 2 minutes and 5 seconds", 125_000],
    ["wait at least 3 hours before the next request", 10_800_000],
    ["Your limit resets in 2h 10m", 7_800_000],
    ["usage will be available in 1 day", 86_400_000],
    ["Server requested 120s retry delay (max: 60s). 429 too many", 120_000],
    ['{"retryDelay":"34s"}', 34_000],
    ["retry-after: 30", 30_000],
    ['{"retry_after": 2.5}', 2_500],
    ["retry-after-ms: 1500", 1_500],
    ["Quota resets at 2025-01-01T00:05:00Z", 300_000],
    ["resets_at: 1735689660", 60_000],
    ["try again in 0s", 0],
  ])("is read from %j", (text, ms) => {
    expect(retryAfterMs(text, NOW)).toBe(ms);
  });

  test("is never before now", () => {
    expect(retryAfterMs("resets at 2024-12-31T23:00:00Z", NOW)).toBe(0);
  });

  test.each([
    "429 Too Many Requests",
    "request req_20s failed",
    "the model is down since 5 minutes",
    "it failed at 2025-01-01T00:05:00Z",
    "try again in 90 days",
    "",
  ])("is not made up from %j", (text) => {
    expect(retryAfterMs(text, NOW)).toBeUndefined();
  });
});
