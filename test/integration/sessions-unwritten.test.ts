/** A session in which nobody has said a word: Pi writes its file with the first of them. */
import { expect, test } from "vitest";
import { MessageKind } from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { diagnose } from "../../src/host/diagnosis.ts";
import { askingModel, shown, told } from "../support/session-scenes.ts";
import { startSessions } from "../support/session-rig.ts";
import { next } from "../support/test-worker.ts";

test("a step is not held up by a note before it that Pi has in memory only", async () => {
  const all = await startSessions();
  const { rig } = all;
  const pi = all.pi();
  await pi.attach();
  const worker = await shown(rig, "tell");
  const notification = { text: "begun", final: false };
  await worker.advance({ outcome: "ok", outputJson: "1", notification }, next("end"));
  const note = await pi.shown();
  const { runId } = await askingModel(rig);
  pi.write(note);
  // Nobody has said a word in this session yet, so Pi has not written its file.
  await pi.report({ written: false });
  await pi.until(({ present }) => present?.kind === MessageKind.STEP);
  expect(rig.reader.messages.get(note.messageId)?.status).toBe("offered");
  const step = await pi.take();
  await pi.until(({ present }) => present === undefined);
  expect(told(rig, runId)).toEqual(["step first delivered"]);
  expect(rig.reader.messages.get(note.messageId)?.status).toBe("delivered");
  expect(step.startsTurn).toBe(true);
  expect(diagnose(all.rig.reader)).toEqual([]);
});

test("a note is shown again when Pi ended without having written it", async () => {
  const all = await startSessions();
  const pi = all.pi();
  await pi.attach();
  const worker = await shown(all.rig, "tell");
  const notification = { text: "begun", final: false };
  await worker.advance({ outcome: "ok", outputJson: "1", notification }, next("end"));
  pi.write(await pi.shown());
  await pi.report({ written: false });
  await pi.until(({ present }) => present === undefined);
  pi.end();
  const later = all.pi();
  await later.attach();
  expect((await later.shown()).kind).toBe(MessageKind.NOTIFICATION);
  expect(diagnose(all.rig.reader)).toEqual([]);
});
