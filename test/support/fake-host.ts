/**
 * The host's services on a real Unix socket, answered by what a test hands in.
 * For tests of clients: what a host would do is none of their business.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, createServer } from "node:http2";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectError } from "@connectrpc/connect";
import type { Code, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { RejectionSchema } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { identityOf } from "../../src/platform/process-identity.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";

export interface FakeServices {
  readonly runs?: Partial<ServiceImpl<typeof RunService>>;
  readonly interactions?: Partial<ServiceImpl<typeof InteractionService>>;
  readonly effects?: Partial<ServiceImpl<typeof EffectService>>;
  readonly host?: Partial<ServiceImpl<typeof HostService>>;
}

export interface FakeHost {
  readonly paths: StatePaths;
  /** Version headers of the calls so far. */
  readonly versions: readonly (string | null)[];
  /** Ends all connections at once, as a killed host would; or after a farewell to each. */
  stop(how?: "killed" | "stopped"): Promise<void>;
}

/** A state folder for one test, short enough for a socket; the caller removes it. */
export function stateFolder(): { readonly paths: StatePaths; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "fh-"));
  const paths = statePaths({ PI_WORKFLOWS_HOME: folder });
  return { paths, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startFakeHost(paths: StatePaths, services: FakeServices): Promise<FakeHost> {
  mkdirSync(paths.folder, { recursive: true, mode: 0o700 });
  rmSync(paths.socket, { force: true });
  const versions: (string | null)[] = [];
  const handler = connectNodeAdapter({
    acceptCompression: [],
    interceptors: [
      (next) => (request) => {
        versions.push(request.header.get("x-pi-workflows-version"));
        return next(request);
      },
    ],
    routes: (router) => {
      router.service(RunService, services.runs ?? {});
      router.service(InteractionService, services.interactions ?? {});
      router.service(EffectService, services.effects ?? {});
      router.service(HostService, services.host ?? {});
    },
  });
  const server = createServer(handler);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => undefined);
    session.on("stream", (stream) => {
      session.once("farewell", () => stream.close(constants.NGHTTP2_NO_ERROR));
    });
  });
  await listen(server, paths.socket);
  writeHostFile(paths);
  return { paths, versions, stop: (how) => close(server, sessions, how) };
}

/** Writes what a host of this very process would write. */
export function writeHostFile(paths: StatePaths, pid: number = process.pid): void {
  const file = { ...identityOf(pid), version: "0.1.0", epoch: 1, socket: paths.socket };
  writeFileSync(paths.hostFile, JSON.stringify(file));
}

/** A refusal as the host sends it. */
export function refusal(code: Code, init: MessageInitShape<typeof RejectionSchema>): ConnectError {
  const rejection = create(RejectionSchema, init);
  return new ConnectError(rejection.message, code, undefined, [
    { desc: RejectionSchema, value: rejection },
  ]);
}

async function listen(server: Http2Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}

async function close(
  server: Http2Server,
  sessions: Set<ServerHttp2Session>,
  how: "killed" | "stopped" = "killed",
): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    for (const session of sessions) {
      // What is still open of a session that is closed in order ends without an error.
      if (how === "stopped") session.emit("farewell");
      if (how === "killed") session.destroy();
      else session.close();
    }
  });
}
