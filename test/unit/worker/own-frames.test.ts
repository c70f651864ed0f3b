import { expect, test } from "vitest";
import { failure } from "../../../src/worker/to-wire.ts";
import { withoutOwnFrames } from "../../../src/worker/own-frames.ts";

const STACK = `Error: boom
    at boom at /opt/my tools/dist/worker.cjs:1:2 in a message
    at Object.run (/project/dist/release.workflow.ts:4:11)
    at file:///project/helper.mjs:9:1
    at run (/opt/my tools/dist/worker.cjs:246:18)
    at async drive (file:///opt/my%20tools/dist/worker.cjs:99:7)
    at /opt/my tools/src/worker/engine/drive.ts:12:3
    at process.processTicksAndRejections (node:internal/process/task_queues:103:5)
    at JSON.parse (<anonymous>)
    at Socket.emit (node:events:519:28)
    at x (/opt/my tools/examples/a.workflow.ts:1:1)`;

test("a stack keeps the author's frames and loses the program's own", () => {
  expect(withoutOwnFrames(STACK, "/opt/my tools").split("\n")).toEqual([
    "Error: boom",
    "    at boom at /opt/my tools/dist/worker.cjs:1:2 in a message",
    "    at Object.run (/project/dist/release.workflow.ts:4:11)",
    "    at file:///project/helper.mjs:9:1",
    "    at JSON.parse (<anonymous>)",
    "    at Socket.emit (node:events:519:28)",
    "    at x (/opt/my tools/examples/a.workflow.ts:1:1)",
  ]);
});

test("an error is sent without them", () => {
  const { stack = "" } = new Error("boom");
  const own = `    at execute (${new URL("../../../dist/worker.cjs", import.meta.url).pathname}:246:18)`;
  const sent = failure({ name: "Error", message: "boom", stack: `${stack}\n${own}` });
  expect(sent.stack).toContain("own-frames.test.ts");
  expect(sent.stack).not.toContain("worker.cjs");
});
