/** One session of Pi and its host: what happens in Pi goes in, pictures of the host go in, and the coordinator acts. */
import type { AttachResponse } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import type { Clock, Timer } from "../platform/clock.ts";
import { Coordinator } from "./coordinator.ts";
import { ABORT_HOLD_MS } from "./abort-class.ts";
import type { Guard } from "./guard.ts";
import { Latch } from "./latch.ts";
import type { MessageDetails } from "./message-details.ts";
import type { Picture, Reporter } from "./picture.ts";
import type { PiPort } from "./pi-port.ts";
import type { HostClients, LinkState, SessionLink, Waking } from "./session-link.ts";
import { TurnBinder } from "./turn-binding.ts";
import type { RunEnd } from "./turn-binding.ts";
import type { TurnFacts } from "./turn-facts.ts";
import { WakePolicy } from "./waking.ts";
import type { Wire, WireOptions } from "./wire.ts";

export interface BridgeOptions {
  readonly port: PiPort;
  readonly clock: Clock;
  readonly guard: Guard;
  /** Kept beyond this session of Pi, until the host has confirmed them. */
  readonly facts: TurnFacts;
  /** Whether the command line may hold several prompts. */
  readonly severalPrompts: boolean;
  readonly openWire: (options: Omit<WireOptions, "facts">) => Promise<Wire>;
}

/** The host hears of the branch at least so often, twice per heartbeat. */
const REPORT_EVERY_MS = 5_000;
/** So long a command waits for the session's attachment, once a host answers. */
const ATTACH_WAIT_MS = 5_000;

export class Bridge implements SessionLink {
  readonly #options: BridgeOptions;
  readonly #listeners = new Set<() => void>();
  readonly #waking: WakePolicy;
  readonly #latch = new Latch();
  readonly #binder: TurnBinder;
  readonly #coordinator: Coordinator;
  readonly #reportTimer: Timer;
  #wakeTimer: Timer | undefined;
  readonly #wire: Promise<Wire>;
  #state: LinkState = { kind: "connecting" };
  #raw: AttachResponse | undefined;
  #attachmentId: string | undefined;
  #waked: Waking;
  #closed = false;

  constructor(options: BridgeOptions) {
    const { port, clock, facts, guard } = options;
    this.#options = options;
    this.#waking = new WakePolicy(clock.monotonic(), options.severalPrompts);
    this.#waked = this.waking;
    this.#binder = new TurnBinder({ port, facts, clock, onEnd: (end) => this.#runEnded(end) });
    const parts = { binder: this.#binder, latch: this.#latch, waking: this.#waking };
    this.#coordinator = new Coordinator({ port, facts, clock, ...parts });
    this.#reportTimer = clock.every(
      REPORT_EVERY_MS,
      guard.wrap("report", () => this.#changed()),
    );
    this.#wire = this.#open();
    this.#plan();
  }

  get sessionId(): string {
    return this.#options.port.sessionId;
  }

  get state(): LinkState {
    return this.#state;
  }

  get picture(): AttachResponse | undefined {
    return this.#raw;
  }

  get waking(): Waking {
    return this.#waking.view(this.#now());
  }

  /** Tools of the step whose turn runs; absent when it may use all. */
  get allowedTools(): readonly string[] | undefined {
    return this.#binder.allowedTools;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  takeOver(): void {
    void this.#withWire((wire) => wire.takeOver());
  }

  allowWake(): void {
    this.#waking.allow();
    this.#changed();
  }

  async host(signal?: AbortSignal): Promise<HostClients> {
    return await (await this.#wire).host(signal);
  }

  async call<Result>(
    fn: (clients: HostClients) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    return await (await this.#wire).call(fn, signal);
  }

  async close(ms: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#reportTimer.cancel();
    this.#wakeTimer?.cancel();
    this.#listeners.clear();
    this.#binder.shutdown();
    await this.#within(ms, this.#coordinator.close());
    this.#coordinator.detached();
    void this.#withWire((wire) => wire.close());
  }

  // What happens in Pi.

  input(): void {
    this.#waking.input(this.#now());
    this.#plan();
  }

  runStarts(message: MessageDetails | undefined): void {
    this.#waking.runStarted(this.#now());
    this.#latch.runStarted();
    this.#binder.runStarts(message);
    this.#changed();
  }

  messageWritten(message: MessageDetails): void {
    this.#binder.messageWritten(message);
  }

  /** Something may have been written, or Pi may be idle now. */
  looked(): void {
    this.#changed();
  }

  runSettled(aborted: boolean): void {
    this.#latch.settled((id) => this.#coordinator.isOnBranch(id));
    this.#binder.runSettled(aborted);
    this.#changed();
  }

  manualCompact(): void {
    this.#binder.manualCompact();
    this.#changed();
  }

  treeChanged(): void {
    this.#waking.treeChanged();
    this.#changed();
  }

  #runEnded({ byUser, aborted, stopped }: RunEnd): void {
    this.#waking.settled(this.#now(), { byUser, aborted });
    if (stopped) this.#waking.stopped();
  }

  /** Also when it fails nobody has to wait for it: a rejection without a catch ends Pi. */
  #open(): Promise<Wire> {
    const { guard } = this.#options;
    const wire = this.#options.openWire({
      onState: guard.wrap("link", (state: LinkState) => this.#setState(state)),
      onPicture: guard.wrap("picture", this.#show.bind(this)),
      attached: async () => await this.#untilAttached(),
      identity: () => this.#identity(),
    });
    const watched = async (): Promise<void> => {
      try {
        await (
          await wire
        ).ended;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#setState({ kind: "unsupported", reason });
      }
    };
    void guard.run("wire", watched);
    return wire;
  }

  #show(picture: Picture, reporter: Reporter, raw: AttachResponse): void {
    if (this.#closed) return;
    if (picture.attachmentId !== this.#attachmentId) this.#waking.allow();
    this.#attachmentId = picture.attachmentId;
    this.#raw = raw;
    this.#coordinator.show(picture, reporter);
    this.#tell();
    this.#pump();
  }

  #setState(state: LinkState): void {
    if (this.#closed) return;
    this.#state = state;
    if (state.kind !== "attached") this.#coordinator.detached();
    this.#tell();
  }

  /** Pi or time has changed something: the host is told, and what has become possible is done. */
  #changed(): void {
    if (this.#closed) return;
    this.#coordinator.branchChanged();
    this.#plan();
    this.#pump();
  }

  #pump(): void {
    const { guard } = this.#options;
    void guard.run("deliver", async () => {
      await this.#coordinator.pump();
      this.#plan();
    });
  }

  /** Comes back when time alone changes what may be done. */
  #plan(): void {
    if (this.#closed) return;
    const { clock, guard } = this.#options;
    this.#wakeTimer?.cancel();
    this.#wakeTimer = undefined;
    const waits = [this.#waking.changesIn(this.#now())];
    if (this.#binder.settling) waits.push(ABORT_HOLD_MS);
    const times = waits.filter((time) => time !== undefined);
    if (times.length > 0) {
      const again = guard.wrap("wake", () => {
        this.#binder.recheck();
        this.#changed();
      });
      this.#wakeTimer = clock.after(Math.min(...times), again);
    }
    const waking = this.waking;
    if (waking.may === this.#waked.may && waking.why === this.#waked.why) return;
    this.#waked = waking;
    this.#tell();
  }

  #tell(): void {
    const { guard } = this.#options;
    for (const listener of this.#listeners) guard.run("listener", listener);
  }

  async #untilAttached(): Promise<void> {
    if (!this.#isComing()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.onChange(() => {
      if (!this.#isComing()) resolve();
    });
    await this.#within(ATTACH_WAIT_MS, promise);
    stop();
  }

  /** True while an attachment may still come by itself. */
  #isComing(): boolean {
    return this.#state.kind === "connecting" || this.#state.kind === "down";
  }

  #identity(): Pick<HostClients, "attachmentId" | "capability"> {
    if (this.#state.kind !== "attached" || this.#raw === undefined) return {};
    const { attachmentId, capability } = this.#raw;
    return { attachmentId, capability };
  }

  async #withWire(run: (wire: Wire) => void): Promise<void> {
    await this.#options.guard.run("wire", async () => run(await this.#wire));
  }

  async #within(ms: number, work: Promise<void>): Promise<void> {
    let timer: Timer | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(ms, resolve);
    });
    await Promise.race([work, limit]);
    timer?.cancel();
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}
