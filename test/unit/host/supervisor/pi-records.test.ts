import { describe, expect, test } from "vitest";
import { JsonLines, LINE_BYTES_MAX } from "../../../../src/host/supervisor/json-lines.ts";
import { answerTo, readPiRecord } from "../../../../src/host/supervisor/pi-records.ts";

const read = (record: unknown) => readPiRecord(Buffer.from(JSON.stringify(record)));
const UI = "extension_ui_request";

describe("records of Pi", () => {
  test.each(["select", "confirm", "input", "editor"])(
    "a %s is a dialog, which is cancelled",
    (method) => {
      const record = read({ type: UI, id: "u1", method, title: "Sure?" });
      expect(record).toEqual({ kind: "dialog", id: "u1" });
      expect(JSON.parse(answerTo({ kind: "dialog", id: "u1" }))).toEqual({
        type: "extension_ui_response",
        id: "u1",
        cancelled: true,
      });
    },
  );

  test("errors are kept as last words", () => {
    expect(
      read({ type: UI, id: "1", method: "notify", message: "no", notifyType: "error" }),
    ).toEqual({ kind: "complaint", text: "no" });
    expect(read({ type: "extension_error", error: "broken" })).toEqual({
      kind: "complaint",
      text: "broken",
    });
  });

  test("everything else is passed over", () => {
    const others = [
      { type: UI, id: "1", method: "notify", message: "hi", notifyType: "info" },
      { type: UI, id: "1", method: "setStatus", statusText: "x" },
      { type: "message_update", text: `"type":"${UI}","method":"select","id":"fake"` },
      { type: "agent_settled" },
      { type: "response", command: "prompt" },
      [],
      "text",
    ];
    expect(others.map(read)).toEqual(others.map(() => undefined));
    expect(readPiRecord(Buffer.from(`{"type":"${UI}", and then`))).toBeUndefined();
    expect(readPiRecord(Buffer.from("plain words"))).toBeUndefined();
  });

  test.each([
    [{ provider: "mock", id: "m" }, true],
    [{ provider: "unknown", id: "unknown" }, false],
    [undefined, false],
  ])("a state with the model %j has one: %s", (model, hasModel) => {
    const record = { id: "state", type: "response", command: "get_state", data: { model } };
    expect(read(record)).toEqual({ kind: "state", hasModel });
  });

  test.each([
    [["mcp", "workflow"], true],
    [["workflow:1"], true],
    [["workflows-of-others"], false],
    [[], false],
  ])("of the commands %j ours is one: %s", (names, hasExtension) => {
    const commands = names.map((name) => ({ name }));
    const record = { id: "c", type: "response", command: "get_commands", data: { commands } };
    expect(read(record)).toEqual({ kind: "commands", hasExtension });
  });
});

describe("lines of bytes", () => {
  function linesOf(...chunks: readonly (string | Buffer)[]): readonly string[] {
    const lines: string[] = [];
    const splitter = new JsonLines((line) => lines.push(line.toString()));
    for (const chunk of chunks) splitter.push(Buffer.from(chunk));
    return lines;
  }

  test("end at a newline and nowhere else", () => {
    expect(linesOf("a\u2028b\r\u0085c\nd\n")).toEqual(["a\u2028b\r\u0085c", "d"]);
  });

  test("may come in any pieces, also within a character", () => {
    const bytes = Buffer.from("ä\n\nü\nrest");
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(linesOf(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(["ä", "ü"]);
    }
  });

  test("are skipped when they are too long, and the next is read", () => {
    const long = "x".repeat(LINE_BYTES_MAX / 2);
    expect(linesOf(long, long, "y", long, "\nnext\n")).toEqual(["next"]);
    expect(linesOf(long, `${long}\n`)).toHaveLength(1);
  });
});
