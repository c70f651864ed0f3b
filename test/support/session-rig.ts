/** The host's services behind a real socket, and Pi processes reduced to what the host sees of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import type { Client } from "@connectrpc/connect";
import { onTestFinished, vi } from "vitest";
import { openHostLink } from "../../src/client/transport.ts";
import type {
  SessionMessage,
  TurnErrorSchema,
  TurnOutcome,
} from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { SessionService } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import type { AttachResponse } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { Capabilities } from "../../src/host/capabilities.ts";
import { rejections } from "../../src/host/handlers/rejections.ts";
import { StreamCount } from "../../src/host/handlers/stream-count.ts";
import { createSocketServer } from "../../src/host/server.ts";
import { serveAll } from "../../src/host/services.ts";
import { SessionHub } from "../../src/host/sessions/hub.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { partsOf, TestResolver } from "./handler-rig.ts";
import { memoryLog } from "./memory-log.ts";
import { SESSION } from "./session-scenes.ts";
import { TestRig } from "./test-host.ts";
import { temporaryFolder } from "./test-store.ts";

export interface SessionRig {
  readonly rig: TestRig;
  readonly hub: SessionHub;
  readonly capabilities: Capabilities;
  readonly socketPath: string;
  /** What went wrong inside the host. */
  readonly faults: unknown[];
  /** Another Pi process, which has not attached. */
  pi(facts?: Partial<PiFacts>): FakePi;
}

export interface SessionRigOptions {
  /** For the host's streams and timers; the machine's own by default. */
  readonly clock?: Clock;
}

export async function startSessions({
  clock = systemClock,
}: SessionRigOptions = {}): Promise<SessionRig> {
  const rig = new TestRig();
  // Workers' writes carry the time of the rig's own clock, which stands still.
  if (clock === systemClock) rig.at.clock.setWall(systemClock.now());
  const host = { ...rig.host, clock };
  const hub = new SessionHub(host);
  const capabilities = new Capabilities();
  const own = {
    streams: new StreamCount(),
    resolver: new TestResolver(),
    workersDir: temporaryFolder(),
    shutdowns: [],
    capabilities,
  };
  const parts = { ...partsOf(rig, own), host, sessions: hub };
  const faults: unknown[] = [];
  const folder = mkdtempSync(join(tmpdir(), "s-"));
  const socketPath = join(folder, "host.sock");
  const server = createSocketServer({
    socketPath,
    clock: systemClock,
    log: memoryLog().log,
    gate: () => undefined,
    interceptors: [rejections((error) => `err_${faults.push(error)}`)],
    routes: (router) => serveAll(router, parts),
  });
  hub.start();
  await server.listen();
  const pis: FakePi[] = [];
  onTestFinished(async () => {
    for (const pi of pis) pi.end();
    await server.stop(1_000);
    await hub.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const pi = (facts: Partial<PiFacts> = {}): FakePi => {
    const made = new FakePi(socketPath, { ...FACTS, pid: 1_000 + pis.length, ...facts });
    pis.push(made);
    return made;
  };
  return { rig, hub, capabilities, socketPath, faults, pi };
}

export interface PiFacts {
  readonly sessionId: string;
  readonly cwd: string;
  readonly sessionFile: string;
  readonly mode: string;
  readonly pid: number;
  readonly takeOver: boolean;
  readonly secret: string;
}

const FACTS = {
  sessionId: SESSION,
  cwd: "/project",
  sessionFile: "/sessions/one.jsonl",
  mode: "rpc",
  takeOver: false,
  secret: "",
} as const;

/** A Pi process: a connection, the newest picture, and a branch of entries. */
export class FakePi {
  readonly facts: PiFacts;
  readonly client: Client<typeof SessionService>;
  /** All pictures that came, oldest first; heartbeats too. */
  readonly pictures: AttachResponse[] = [];
  /** Entry ids by message. */
  readonly branch = new Map<string, string>();
  /** Settles with what ended the stream; undefined when this side did. */
  ended: Promise<unknown> = Promise.resolve(undefined);
  readonly #link: ReturnType<typeof openHostLink>;
  #stop = new AbortController();

  constructor(socketPath: string, facts: PiFacts) {
    this.facts = facts;
    this.#link = openHostLink({ socketPath });
    this.client = createClient(SessionService, this.#link.transport);
  }

  /** The newest picture. */
  get picture(): AttachResponse {
    const picture = this.pictures.at(-1);
    if (picture === undefined) throw new Error("no picture has come");
    return picture;
  }

  get name(): { sessionId: string; attachmentId: string } {
    return { sessionId: this.facts.sessionId, attachmentId: this.picture.attachmentId };
  }

  /** Opens the stream and waits for the first picture. */
  async attach(change: Partial<PiFacts> = {}): Promise<AttachResponse> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const before = this.pictures.length;
    const stream = this.client.attach({ ...this.facts, ...change }, { signal });
    this.ended = this.#follow(stream, signal);
    await Promise.race([
      this.until(() => this.pictures.length > before),
      this.ended.then((reason) => {
        if (reason !== undefined) throw reason as Error;
      }),
    ]);
    return this.picture;
  }

  /** Waits for a picture of which something holds. */
  async until(holds: (picture: AttachResponse) => boolean): Promise<AttachResponse> {
    await vi.waitUntil(() => this.pictures.length > 0 && holds(this.picture), {
      timeout: 5_000,
      interval: 2,
    });
    return this.picture;
  }

  /** Waits for a message to show. */
  async shown(): Promise<SessionMessage> {
    const { present } = await this.until((picture) => picture.present !== undefined);
    if (present === undefined) throw new Error("nothing is to be shown");
    return present;
  }

  /** Writes the message as an entry, which nobody is told of yet. */
  write({ messageId }: SessionMessage): string {
    const entryId = `entry-${this.branch.size + 1}`;
    this.branch.set(messageId, entryId);
    return entryId;
  }

  /** Tells what stands on the branch of the messages that the host asks for. */
  async report(change: ReportChange = {}): Promise<void> {
    await this.client.reportBranch({
      ...this.name,
      messages: this.picture.openMessageIds.map((messageId) => ({
        messageId,
        entryId: this.branch.get(messageId) ?? "",
      })),
      leafId: "leaf",
      idle: true,
      written: true,
      ...change,
    });
  }

  async open(messageId: string): Promise<void> {
    await this.client.reportTurn({ ...this.name, messageId });
  }

  async settle(messageId: string, outcome: TurnOutcome, change: SettleChange = {}): Promise<void> {
    const entryId = this.branch.get(messageId) ?? "";
    await this.client.reportTurn({ ...this.name, messageId, outcome, entryId, ...change });
  }

  /** Shows what is to be shown next and lets its turn begin. */
  async take(): Promise<SessionMessage> {
    const message = await this.shown();
    this.write(message);
    if (message.startsTurn) await this.open(message.messageId);
    const turn = { messageId: message.messageId, running: true };
    await this.report(message.startsTurn ? { idle: false, turn } : {});
    return message;
  }

  /** The stream ends, and whatever was under way with it. */
  end(): void {
    this.#stop.abort();
    this.#link.close();
  }

  async #follow(stream: AsyncIterable<AttachResponse>, signal: AbortSignal): Promise<unknown> {
    try {
      for await (const picture of stream) this.pictures.push(picture);
      return new Error("the stream ended without a reason");
    } catch (error) {
      return signal.aborted ? undefined : error;
    }
  }
}

/** A Pi that has attached to a real host and told that nothing stands on its branch. */
export async function attachedPi(socketPath: string, sessionId: string): Promise<FakePi> {
  const place = { sessionId, cwd: "/", sessionFile: "", pid: process.pid };
  const pi = new FakePi(socketPath, { ...FACTS, ...place });
  onTestFinished(() => pi.end());
  await pi.attach();
  await pi.report();
  return pi;
}

interface ReportChange {
  readonly idle?: boolean;
  readonly written?: boolean;
  readonly turn?: { readonly messageId: string; readonly running: boolean };
  readonly messages?: { readonly messageId: string; readonly entryId: string }[];
}

interface SettleChange {
  readonly replyText?: string;
  readonly replyWhole?: boolean;
  readonly error?: MessageInitShape<typeof TurnErrorSchema>;
}
