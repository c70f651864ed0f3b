/** A session link and a Pi that a test plays both of, for what people and models see. */
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import type { ServiceImpl } from "@connectrpc/connect";
import type { CommandPlace } from "../../src/extension/command/call.ts";
import type { ToolPlace } from "../../src/extension/tool/call.ts";
import type {
  HostClients,
  LinkState,
  SessionLink,
  Waking,
} from "../../src/extension/session-link.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import {
  AttachResponseSchema,
  SessionRunSchema,
  SessionService,
} from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type {
  AttachResponse,
  SessionRun,
} from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type { RunSummary } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";

export const NOW = Date.UTC(2025, 0, 1, 12);
export const SESSION_ID = "session-1";

/** So many milliseconds before now, or after it when negative. */
export function ago(ms: number): Timestamp {
  return timestampFromMs(NOW - ms);
}

type Summary = Partial<Omit<RunSummary, "$typeName" | "$unknown">>;

/** A run that has been at the node `draft` for two minutes, unless told otherwise. */
export function sessionRun(
  summary: Summary = {},
  fields: Partial<Pick<SessionRun, "update" | "waitsFor" | "behind">> = {},
): SessionRun {
  const standing: Summary = {
    runId: "run_1",
    workflow: "release",
    title: "release 1.2",
    status: RunStatus.RUNNING,
    node: "draft",
    steps: 3,
    createdAt: ago(120_000),
    updatedAt: ago(5_000),
  };
  return create(SessionRunSchema, { nodes: 6, ...fields, summary: { ...standing, ...summary } });
}

export function pictureOf(fields: MessageInitShape<typeof AttachResponseSchema>): AttachResponse {
  return create(AttachResponseSchema, { attachmentId: "att-1", holder: true, ...fields });
}

export interface FakeServices {
  readonly runs?: Partial<ServiceImpl<typeof RunService>>;
  readonly interactions?: Partial<ServiceImpl<typeof InteractionService>>;
  readonly sessions?: Partial<ServiceImpl<typeof SessionService>>;
  readonly host?: Partial<ServiceImpl<typeof HostService>>;
}

/** A link whose host answers what the test says, over an in-memory transport. */
export class FakeLink implements SessionLink {
  readonly sessionId = SESSION_ID;
  state: LinkState = { kind: "attached", holder: true };
  picture: AttachResponse | undefined;
  waking: Waking = { may: true, why: "" };
  takeOvers = 0;
  wakes = 0;
  /** What reaching a host fails with; absent while there is one. */
  unreachable: Error | undefined;
  /** How often a call is sent although it was answered: as after a lost reply. */
  lostReplies = 0;
  identity: Pick<HostClients, "attachmentId" | "capability"> = {
    attachmentId: "att-1",
    capability: "cap-1",
  };
  readonly #listeners = new Set<() => void>();
  readonly #services: FakeServices;

  constructor(services: FakeServices = {}) {
    this.#services = services;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  show(picture: AttachResponse | undefined): void {
    this.picture = picture;
    this.tell();
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  takeOver(): void {
    this.takeOvers += 1;
  }

  allowWake(): void {
    this.wakes += 1;
  }

  async host(): Promise<HostClients> {
    if (this.unreachable !== undefined) throw this.unreachable;
    const transport = createRouterTransport(({ service }) => {
      service(RunService, this.#services.runs ?? {});
      service(InteractionService, this.#services.interactions ?? {});
      service(SessionService, this.#services.sessions ?? {});
      service(HostService, this.#services.host ?? {});
      service(EffectService, {});
    });
    return {
      runs: createClient(RunService, transport),
      interactions: createClient(InteractionService, transport),
      sessions: createClient(SessionService, transport),
      effects: createClient(EffectService, transport),
      hostService: createClient(HostService, transport),
      ...this.identity,
    };
  }

  async call<Result>(fn: (clients: HostClients) => Promise<Result>): Promise<Result> {
    const clients = await this.host();
    for (; this.lostReplies > 0; this.lostReplies -= 1) await fn(clients);
    return await fn(clients);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }
}

export interface Asked {
  readonly method: "select" | "input";
  readonly title: string;
  readonly options: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface Noted {
  readonly text: string;
  readonly type: string;
}

/** The user at the dialogs: answers in the order they are asked, and hears what is said. */
export class FakePlace implements CommandPlace {
  mode: "tui" | "rpc" = "rpc";
  cwd = "/project";
  trusted = true;
  sessionFile: string | undefined = "/sessions/1.jsonl";
  readonly asked: Asked[] = [];
  readonly notes: Noted[] = [];
  /** What the user says when asked for a yes or no; undefined leaves the dialog open. */
  confirms: boolean | undefined = true;
  readonly confirmed: string[] = [];
  readonly #answers: (string | undefined)[];

  constructor(...answers: (string | undefined)[]) {
    this.#answers = answers;
  }

  readonly sessionManager = { getSessionFile: (): string | undefined => this.sessionFile };

  readonly ui: CommandPlace["ui"] & ToolPlace["ui"] = {
    notify: (text, type = "info") => void this.notes.push({ text, type }),
    select: async (title, options, { signal } = {}) =>
      await this.#ask({ method: "select", title, options, signal }),
    input: async (title, _placeholder, { signal } = {}) =>
      await this.#ask({ method: "input", title, options: [], signal }),
    confirm: async (title, message, { signal } = {}) => {
      this.confirmed.push(`${title} ${message}`);
      if (this.confirms !== undefined) return this.confirms;
      await untilAborted(signal, title);
      return false;
    },
    // As in RPC mode, where nothing can be drawn.
    custom: async () => undefined as never,
  };

  isProjectTrusted(): boolean {
    return this.trusted;
  }

  /** The texts of all that was said, in one. */
  get said(): string {
    return this.notes.map(({ text }) => text).join("\n");
  }

  /** An unanswered dialog stays open until its signal ends it, as Pi's do. */
  async #ask(asked: Asked): Promise<string | undefined> {
    this.asked.push(asked);
    if (this.#answers.length > 0) return this.#answers.shift();
    await untilAborted(asked.signal, asked.title);
    return undefined;
  }
}

async function untilAborted(signal: AbortSignal | undefined, title: string): Promise<void> {
  if (signal === undefined) throw new Error(`a dialog without a signal: ${title}`);
  if (signal.aborted) return;
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
  });
}
