/** A bridge between a Pi and a host that a test plays both of. */
import { setImmediate as turn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Bridge } from "../../src/extension/bridge.ts";
import type { BranchEntry } from "../../src/extension/branch.ts";
import { Guard } from "../../src/extension/guard.ts";
import type { MessageDetails } from "../../src/extension/message-details.ts";
import type {
  BranchReport,
  Picture,
  Present,
  Reporter,
  Told,
} from "../../src/extension/picture.ts";
import type { OwnMessage, PiPort } from "../../src/extension/pi-port.ts";
import type { HostClients } from "../../src/extension/session-link.ts";
import { TurnFacts } from "../../src/extension/turn-facts.ts";
import type { TurnFact } from "../../src/extension/turn-facts.ts";
import type { Wire, WireOptions } from "../../src/extension/wire.ts";
import { AttachResponseSchema } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { assistant, detailsOf, user } from "./branch-entries.ts";
import { FakeClock } from "./fake-clock.ts";

export const SESSION = "session-1";

/** As much of Pi as the bridge sees; `bridge` is told what Pi would tell it. */
export class FakePi implements PiPort {
  readonly sessionId = SESSION;
  readonly sessionFile = "";
  readonly cwd = "/project";
  readonly mode = "rpc";
  readonly sent: OwnMessage[] = [];
  aborts = 0;
  idle = true;
  entries: BranchEntry[] = [];
  /** False for a Pi that loses what it is handed, as the Escape key makes it do. */
  keeps = true;
  #numbers = 0;

  isIdle(): boolean {
    return this.idle;
  }

  branch(): readonly BranchEntry[] {
    return this.entries;
  }

  leafId(): string {
    return this.entries.at(-1)?.id ?? "";
  }

  send(message: OwnMessage): void {
    this.sent.push(message);
    if (message.startsTurn) this.idle = !this.keeps;
    else this.write(message.details);
  }

  abort(): void {
    this.aborts += 1;
  }

  write(details: MessageDetails): void {
    const custom = { type: "custom_message", customType: "workflow", details };
    this.entries.push({ ...custom, id: this.nextId() });
  }

  nextId(): string {
    this.#numbers += 1;
    return `e${this.#numbers}`;
  }
}

/** The host's side of one attachment: takes what it is told, unless it is to do otherwise. */
export class FakeHost {
  readonly branches: BranchReport[] = [];
  readonly turns: TurnFact[] = [];
  /** Everything in its order. */
  readonly order: string[] = [];
  answer: (what: "branch" | "turn") => Told | Promise<Told> = () => "taken";

  reporter(attachmentId: string): Reporter {
    return {
      attachmentId,
      branch: async (report) => {
        this.branches.push(report);
        this.order.push("branch");
        return await this.answer("branch");
      },
      turn: async (fact) => {
        this.turns.push(fact);
        this.order.push(`turn ${fact.messageId} ${fact.end ?? "opened"}`);
        return await this.answer("turn");
      },
    };
  }
}

export class BridgeRig {
  readonly clock = new FakeClock();
  readonly pi = new FakePi();
  readonly host = new FakeHost();
  readonly guard = new Guard();
  readonly facts: TurnFact[] = [];
  readonly bridge: Bridge;
  readonly wire = { takeOvers: 0, closed: 0, failure: undefined as Error | undefined };
  #options: Omit<WireOptions, "facts"> | undefined;
  #attachments = 0;
  #picture: Picture | undefined;
  #end: () => void = () => undefined;

  constructor(options: { readonly severalPrompts?: boolean; readonly failure?: Error } = {}) {
    this.wire.failure = options.failure;
    this.bridge = new Bridge({
      port: this.pi,
      clock: this.clock,
      guard: this.guard,
      facts: new TurnFacts(this.facts),
      severalPrompts: options.severalPrompts ?? false,
      openWire: async (wire) => this.#openWire(wire),
    });
  }

  /** Everything that needs no time has happened. */
  async rest(): Promise<void> {
    for (let round = 0; round < 10; round += 1) await turn();
  }

  async passes(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.rest();
  }

  /** The host attaches the session; its first picture comes with it. */
  async attach(fields: Partial<Picture> = {}): Promise<void> {
    this.#attachments += 1;
    this.#picture = undefined;
    await this.show({ attachmentId: `tch_${this.#attachments}`, ...fields });
  }

  /** A further picture, or with other fields than before. */
  async show(fields: Partial<Picture> = {}): Promise<void> {
    await this.rest();
    const picture = { ...NOTHING, ...this.#picture, ...fields };
    this.#picture = picture;
    this.#options?.onState({ kind: "attached", holder: picture.holder });
    const { attachmentId, holder } = picture;
    const raw = create(AttachResponseSchema, { attachmentId, holder, capability: "secret" });
    this.#options?.onPicture(picture, this.host.reporter(attachmentId), raw);
    await this.rest();
  }

  async detach(): Promise<void> {
    this.#options?.onState({ kind: "connecting" });
    await this.rest();
  }

  async stateIs(state: Parameters<WireOptions["onState"]>[0]): Promise<void> {
    await this.rest();
    this.#options?.onState(state);
    await this.rest();
  }

  /** A run begins: of the user, or of the message. Pi writes what started it a moment later. */
  async run(started?: MessageDetails): Promise<void> {
    this.pi.idle = false;
    this.bridge.runStarts(started);
    if (started === undefined) this.pi.entries.push(user(this.pi.nextId()));
    else this.pi.write(started);
    this.bridge.looked();
    await this.rest();
  }

  /** The run ends, with an answer of the model unless there is none. */
  async settle(
    answer: string | Parameters<typeof assistant>[2] | undefined = "done",
  ): Promise<void> {
    const isText = typeof answer === "string";
    this.pi.entries.push(assistant(this.pi.nextId(), isText ? answer : "", isText ? {} : answer));
    await this.ends(false);
  }

  async ends(aborted: boolean): Promise<void> {
    this.pi.idle = true;
    this.bridge.runSettled(aborted);
    await this.rest();
  }

  /** Attached, awake, the message sent and its turn running. */
  async inTurnOf(message: Present): Promise<void> {
    await this.attach({ present: message, openMessageIds: [message.messageId] });
    await this.passes(1_000);
    await this.run(message.details);
  }

  #openWire(options: Omit<WireOptions, "facts">): Wire {
    if (this.wire.failure !== undefined) throw this.wire.failure;
    this.#options = options;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const clients = (): HostClients => {
      // The bridge only hands them on.
      return { ...options.identity() } as HostClients;
    };
    return {
      ended,
      takeOver: () => void (this.wire.takeOvers += 1),
      host: async () => clients(),
      call: async (run) => await run(clients()),
      close: () => {
        this.wire.closed += 1;
        this.#end();
      },
    };
  }
}

const NOTHING: Picture = {
  attachmentId: "",
  holder: true,
  present: undefined,
  abort: undefined,
  openMessageIds: [],
  openTurn: undefined,
};

export function presentOf(messageId: string, fields: Partial<Present> = {}): Present {
  return {
    messageId,
    text: `text of ${messageId}`,
    startsTurn: true,
    allowedTools: undefined,
    details: detailsOf({ id: messageId }),
    ...fields,
  };
}
