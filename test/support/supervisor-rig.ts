/** A supervisor with real children, and in place of the host's server a socket that speaks lines of JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ResolveSchema } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import {
  WorkRequestSchema,
  WorkResponseSchema,
} from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkResponse } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { SupervisedWorker } from "../../src/host/supervisor/supervised-worker.ts";
import { createSupervisor } from "../../src/host/supervisor/supervisor.ts";
import type { Supervisor, SupervisorOptions } from "../../src/host/supervisor/supervisor.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Log, LogFields } from "../../src/platform/log.ts";

export const WANT = { workflowPath: "/project/a.workflow.ts", projectDir: "/project" };

export interface Rig {
  readonly supervisor: Supervisor;
  readonly folder: string;
  readonly socketPath: string;
  /** Secrets that were shown on a new stream, in order. */
  readonly shown: readonly string[];
  readonly logged: readonly { readonly event: string; readonly fields: LogFields }[];
  /** Ends all children and removes the folder. */
  close(): Promise<void>;
}

export interface RigOptions extends Partial<Omit<SupervisorOptions, "settings">> {
  /** Name of a program in test/fixtures/children. */
  readonly child: string;
  readonly settings?: Partial<SupervisorOptions["settings"]>;
  /** A folder of an earlier rig, which then stays. */
  readonly folder?: string;
}

/** Starts a supervisor that keeps no spares unless told to. */
export async function startRig(options: RigOptions): Promise<Rig> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "rig-"));
  const socketPath = join(folder, "host.sock");
  const logged: { event: string; fields: LogFields }[] = [];
  const supervisor = createSupervisor({
    clock: systemClock,
    log: recordTo(logged),
    workerPath: join(import.meta.dirname, "../fixtures/children", `${options.child}.ts`),
    socketPath,
    storeTag: "rig",
    hostEpoch: 1,
    workersDir: folder,
    cacheDir: folder,
    ...options,
    settings: {
      capacity: 4,
      spares: 0,
      spareMs: 600_000,
      workerMemoryMb: 2_048,
      ...options.settings,
    },
  });
  const shown: string[] = [];
  const server = await listen(socketPath, (socket) => serve(supervisor, socket, shown));
  supervisor.start();
  const close = async (): Promise<void> => {
    await supervisor.stop(0);
    await new Promise((resolve) => {
      server.close(resolve);
    });
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return { supervisor, folder, socketPath, shown, logged, close };
}

/** The frame that makes a child of the fixtures do its one thing. */
export function act(worker: SupervisedWorker, argument = ""): void {
  const value = create(ResolveSchema, { workflowPath: argument });
  worker.send(create(WorkResponseSchema, { body: { case: "resolve", value } }));
}

async function listen(path: string, serveOne: (socket: Socket) => void): Promise<Server> {
  const server = createServer(serveOne);
  return new Promise((resolve) => {
    server.listen(path, () => resolve(server));
  });
}

function serve(supervisor: Supervisor, socket: Socket, shown: string[]): void {
  let worker: SupervisedWorker | undefined;
  const channel = {
    send: (frame: WorkResponse) => {
      socket.write(`${JSON.stringify(toJson(WorkResponseSchema, frame))}\n`);
    },
    close: () => socket.end(),
  };
  socket.on("error", () => undefined);
  const lines = createInterface({ input: socket });
  // It passes on the errors of its socket.
  lines.on("error", () => undefined);
  lines.on("line", (line) => {
    const message = JSON.parse(line) as JsonValue & { readonly secret?: string };
    if (worker !== undefined) {
      supervisor.receive(worker, fromJson(WorkRequestSchema, message));
      return;
    }
    shown.push(message.secret ?? "");
    worker = supervisor.authenticate(message.secret);
    if (worker === undefined) socket.destroy();
    else supervisor.connect(worker, channel);
  });
  socket.on("close", () => {
    if (worker !== undefined) supervisor.disconnected(worker);
  });
}

function recordTo(entries: { event: string; fields: LogFields }[]): Log {
  const add = (event: string, fields: LogFields = {}): void => {
    entries.push({ event, fields });
  };
  return { info: add, warn: add, error: add, child: () => recordTo(entries) };
}
