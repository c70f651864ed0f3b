/**
 * All of the extension that needs the wire. Loaded after Pi has started, so
 * that nobody waits for it.
 */
import { join } from "node:path";
import type { AttachResponse } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { systemClock } from "../platform/clock.ts";
import { random } from "../platform/ids.ts";
import { packageRoot } from "../platform/package-info.ts";
import { statePaths } from "../platform/state-folder.ts";
import { AttachLoop } from "./attach-loop.ts";
import type { Attachment, SessionFacts } from "./attach-loop.ts";
export type { SessionFacts } from "./attach-loop.ts";
import { HostAccess } from "./host-access.ts";
import type { Picture, Reporter } from "./picture.ts";
import { reporterOf } from "./reports.ts";
import type { HostClients, LinkState } from "./session-link.ts";
import { toPicture } from "./to-picture.ts";

export interface WireOptions {
  readonly facts: SessionFacts;
  readonly onState: (state: LinkState) => void;
  readonly onPicture: (picture: Picture, reporter: Reporter, raw: AttachResponse) => void;
  /** Waits until the session is attached, or long enough. */
  readonly attached: () => Promise<void>;
  readonly identity: () => Pick<HostClients, "attachmentId" | "capability">;
}

/** The session's way to the host. */
export interface Wire {
  /** Settles when the wire is closed. */
  readonly ended: Promise<void>;
  takeOver(): void;
  host(signal: AbortSignal | undefined): Promise<HostClients>;
  call<Result>(
    run: (clients: HostClients) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result>;
  close(): void;
}

export function openWire(options: WireOptions): Wire {
  const paths = statePaths();
  const { facts } = options;
  const access = new HostAccess({
    paths,
    hostEntry: join(packageRoot(), "dist", "host.cjs"),
    mayStartHost: facts.secret === "",
    attached: options.identity,
    onReached: async () => {
      loop.retryNow();
      await options.attached();
    },
  });
  const loop = new AttachLoop({
    facts,
    paths,
    clock: systemClock,
    random,
    connect: async (how) => await access.connect(how),
    onState: options.onState,
    onPicture: (raw, { client, signal }: Attachment) => {
      const reporter = reporterOf({
        sessions: client.sessions,
        sessionId: facts.sessionId,
        attachmentId: raw.attachmentId,
        signal,
      });
      options.onPicture(toPicture(raw, facts.sessionId), reporter, raw);
    },
  });
  return {
    ended: loop.run(),
    takeOver: () => loop.takeOver(),
    host: async (signal) => await access.host(signal),
    call: async (run, signal) => await access.call(run, signal),
    close: () => {
      loop.close();
      access.close();
    },
  };
}
