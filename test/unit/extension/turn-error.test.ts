import { describe, expect, test } from "vitest";
import { classifyError } from "../../../src/extension/turn-error.ts";

const NOW = Date.UTC(2025, 0, 1);

describe("the error of a model", () => {
  test.each([
    "429 Too Many Requests",
    "Rate limit reached for requests",
    "rate_limit_error: slow down",
    "529 Overloaded",
    "overloaded_error",
    "ThrottlingException: Too many tokens",
    "The model is at capacity",
    "currently experiencing high demand",
    "RESOURCE_EXHAUSTED",
    "Server requested 90s retry delay (max: 60s). busy",
  ])("%j is a rate limit", (message) => {
    expect(classifyError(message, NOW).kind).toBe("rate_limit");
  });

  test.each([
    "You have hit your ChatGPT usage limit (plus plan). Try again in ~12 min.",
    "429 You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota",
    "GoUsageLimitError",
    "Monthly usage limit reached",
    "Your credit balance is too low",
    "402 Payment Required",
    '429 {"error":{"code":"1308"}}',
    "Quota exceeded for metric",
  ])("%j is a used-up allowance, whatever its status", (message) => {
    expect(classifyError(message, NOW).kind).toBe("usage_limit");
  });

  test.each([
    "503 Service Unavailable",
    "400 invalid request",
    "fetch failed",
    "request req_429abc failed",
    "received 14290 bytes",
    "No model selected",
  ])("%j is any other", (message) => {
    expect(classifyError(message, NOW)).toEqual({ kind: "other", message });
  });

  test("carries when to come back, if it is a limit", () => {
    const limit = classifyError("429: try again in 20s", NOW);
    expect(limit).toEqual({
      kind: "rate_limit",
      message: "429: try again in 20s",
      retryAfterMs: 20_000,
    });
    expect(classifyError("500: try again in 20s", NOW).retryAfterMs).toBeUndefined();
  });

  test("is told in at most 2,000 characters, and never in none", () => {
    expect(classifyError("x".repeat(5_000), NOW).message).toHaveLength(2_000);
    expect(classifyError(" ", NOW).message).toBe("the model gave no reason");
  });
});
