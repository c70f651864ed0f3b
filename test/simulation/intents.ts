/** What people and programs ask of a host: each with its key, and the same however often it is sent. */
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import type { CommandSchema, Receipt } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import type { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { SourcePolicy } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";

/** What a command is about, for those who keep the books. */
export type Subject =
  | { readonly kind: "start" }
  | { readonly kind: "restart" }
  | { readonly kind: "pause"; readonly runId: string }
  | { readonly kind: "resume"; readonly runId: string }
  | { readonly kind: "cancel"; readonly runId: string }
  | { readonly kind: "answer"; readonly interactionId: string; readonly value: string }
  | { readonly kind: "decide"; readonly interactionId: string; readonly value: string }
  | { readonly kind: "submit"; readonly interactionId: string }
  | { readonly kind: "resolve"; readonly effectId: string }
  | { readonly kind: "prune" };

export interface Intent {
  readonly key: string;
  readonly subject: Subject;
  readonly send: (transport: Transport) => Promise<Receipt | undefined>;
}

type Asked = MessageInitShape<typeof CommandSchema>;

function intent(
  key: string,
  subject: Subject,
  send: (command: Asked, transport: Transport) => Promise<Receipt | undefined>,
): Intent {
  const command = { requestId: key, idempotencyKey: key, client: "simulation" };
  return { key, subject, send: (transport) => send(command, transport) };
}

export interface StartOptions {
  readonly originSession: string;
  readonly priority: number;
  readonly notBefore: number | undefined;
}

export function start(key: string, { originSession, priority, notBefore }: StartOptions): Intent {
  return intent(key, { kind: "start" }, async (command, transport) => {
    const { receipt } = await createClient(RunService, transport).startRun({
      command,
      workflow: "sim",
      projectDir: "/project",
      input: valueOf(command.requestId ?? ""),
      priority,
      originSession,
      allowDuplicate: true,
      ...(notBefore === undefined ? {} : { notBefore: stamp(notBefore) }),
    });
    return receipt;
  });
}

export function restart(key: string, runId: string): Intent {
  return intent(key, { kind: "restart" }, async (command, transport) => {
    const asked = { command, runId };
    return (await createClient(RunService, transport).restartRun(asked)).receipt;
  });
}

export function pause(key: string, runId: string, now: boolean): Intent {
  return intent(key, { kind: "pause", runId }, async (command, transport) => {
    const asked = { command, runId, now };
    return (await createClient(RunService, transport).pauseRun(asked)).receipt;
  });
}

export function resume(key: string, runId: string, sourcePolicy: SourcePolicy): Intent {
  return intent(key, { kind: "resume", runId }, async (command, transport) => {
    const asked = { command, runId, sourcePolicy };
    return (await createClient(RunService, transport).resumeRun(asked)).receipt;
  });
}

export function cancel(key: string, runId: string): Intent {
  return intent(key, { kind: "cancel", runId }, async (command, transport) => {
    const asked = { command, runId };
    return (await createClient(RunService, transport).cancelRun(asked)).receipt;
  });
}

export function answer(key: string, interactionId: string, value: string): Intent {
  const subject = { kind: "answer", interactionId, value } as const;
  return intent(key, subject, async (command, transport) => {
    const asked = { command, interactionId, answer: valueOf(value) };
    return (await createClient(InteractionService, transport).answerCheckpoint(asked)).receipt;
  });
}

export function decide(
  key: string,
  interactionId: string,
  choice: string,
  capability: string,
): Intent {
  const subject = { kind: "decide", interactionId, value: choice } as const;
  return intent(key, subject, async (command, transport) => {
    const asked = { command, interactionId, choice, capability };
    return (await createClient(InteractionService, transport).answerDecision(asked)).receipt;
  });
}

export function submit(
  key: string,
  interactionId: string,
  value: string,
  sessionId: string,
): Intent {
  return intent(key, { kind: "submit", interactionId }, async (command, transport) => {
    const asked = { command, interactionId, value: valueOf(value), sessionId };
    return (await createClient(InteractionService, transport).submitResult(asked)).receipt;
  });
}

export function resolve(key: string, effectId: string, resolution: Resolution): Intent {
  return intent(key, { kind: "resolve", effectId }, async (command, transport) => {
    const asked = { command, effectId, resolution, output: valueOf("resolved") };
    return (await createClient(EffectService, transport).resolveEffect(asked)).receipt;
  });
}

export function prune(key: string, olderThanMs: number): Intent {
  return intent(key, { kind: "prune" }, async (command, transport) => {
    const olderThan = { seconds: BigInt(Math.floor(olderThanMs / 1_000)), nanos: 0 };
    await createClient(HostService, transport).prune({ command, olderThan });
    return undefined;
  });
}

function valueOf(text: string): MessageInitShape<typeof ValueSchema> {
  return create(ValueSchema, { kind: { case: "stringValue", value: text } });
}

function stamp(ms: number): { readonly seconds: bigint; readonly nanos: number } {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.floor(ms - seconds * 1_000) * 1_000_000 };
}
