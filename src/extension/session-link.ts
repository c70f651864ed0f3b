/** What the parts of the extension that people and models see know of the host: types alone. */
import type { Client } from "@connectrpc/connect";
import type { EffectService } from "../gen/piworkflows/host/v1/effect_service_pb.ts";
import type { HostService } from "../gen/piworkflows/host/v1/host_service_pb.ts";
import type { InteractionService } from "../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type { RunService } from "../gen/piworkflows/host/v1/run_service_pb.ts";
import type {
  AttachResponse,
  SessionService,
} from "../gen/piworkflows/host/v1/session_service_pb.ts";

export type LinkState =
  | { readonly kind: "connecting" }
  /** `holder` is false for a standby, which only looks. */
  | { readonly kind: "attached"; readonly holder: boolean }
  /** Another Pi took the session over; only `takeOver` leads back. */
  | { readonly kind: "fenced" }
  /** No host, and tried again by itself. */
  | { readonly kind: "down"; readonly reason: string }
  /** Nothing will be tried. */
  | { readonly kind: "unsupported"; readonly reason: string };

/** Whether a message may start a turn now, and if not, why not in words. */
export interface Waking {
  readonly may: boolean;
  /** Empty when it may. */
  readonly why: string;
}

/** The host's services on one connection. */
export interface HostClients {
  readonly runs: Client<typeof RunService>;
  readonly interactions: Client<typeof InteractionService>;
  readonly sessions: Client<typeof SessionService>;
  readonly effects: Client<typeof EffectService>;
  readonly hostService: Client<typeof HostService>;
  /** Of the session's attachment; absent while it is not attached. */
  readonly attachmentId?: string;
  /** Lets this session's user answer human decisions. Never to be shown to a model. */
  readonly capability?: string;
}

export interface SessionLink {
  readonly sessionId: string;
  readonly state: LinkState;
  /** The newest picture, also of a host that is gone; absent before the first. */
  readonly picture: AttachResponse | undefined;
  readonly waking: Waking;
  /** Called after each change of the three above. Returns what ends that. */
  onChange(listener: () => void): () => void;
  /** Attaches as the holder, by a person's wish. */
  takeOver(): void;
  /** Lets messages start turns again after the user stopped one. */
  allowWake(): void;
  /** Connected clients. Reconnects for up to 15 s, then throws an error that says what to do. */
  host(signal?: AbortSignal): Promise<HostClients>;
  /**
   * Runs `fn` until the host answers it, as long as the host went away or is going and 15 s have
   * not passed. `fn` is called again with nothing changed, so it must send the same request with
   * the same key.
   */
  call<Result>(
    fn: (clients: HostClients) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Stops everything; the last report gets `ms`. */
  close(ms: number): Promise<void>;
}

/** The link of the present session; absent before it starts and after it ended. */
export type LinkAccess = () => SessionLink | undefined;
