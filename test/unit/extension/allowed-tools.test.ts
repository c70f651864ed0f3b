import { describe, expect, test } from "vitest";
import { blockedTool } from "../../../src/extension/allowed-tools.ts";

const call = (toolName: string, action?: string): Parameters<typeof blockedTool>[1] => ({
  toolName,
  input: action === undefined ? {} : { action },
});

describe("a tool in the turn of a step", () => {
  test("is allowed where the author says nothing", () => {
    expect(blockedTool(undefined, call("bash"))).toBeUndefined();
  });

  test("is allowed when it is named, and blocked when it is not", () => {
    expect(blockedTool(["read"], call("read"))).toBeUndefined();
    const reason = blockedTool(["read", "grep"], call("bash"));
    expect(reason).toContain("does not allow bash");
    expect(reason).toContain("read, grep and workflow with submit, update and status");
  });

  test.each(["submit", "update", "status"])("may always be workflow %s", (action) => {
    expect(blockedTool([], call("workflow", action))).toBeUndefined();
  });

  test.each(["start", "cancel", "answer"])("may not be workflow %s unless named", (action) => {
    expect(blockedTool([], call("workflow", action))).toContain(`"${action}"`);
    expect(blockedTool(["workflow"], call("workflow", action))).toBeUndefined();
  });
});
