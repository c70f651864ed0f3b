/**
 * The services of a host over an in-memory transport: real handlers, operations
 * and store, and in place of processes what a test hands in.
 */
import { Capabilities } from "../../src/host/capabilities.ts";
import { create } from "@bufbuild/protobuf";
import { ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import type { Client, Code } from "@connectrpc/connect";
import { rejectionOf } from "../../src/client/rejection.ts";
import { CommandSchema } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import type { Command } from "../../src/gen/piworkflows/common/v1/command_pb.ts";
import type { Rejection } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { HostError } from "../../src/host/errors.ts";
import { effectService } from "../../src/host/handlers/effect-service.ts";
import { hostService } from "../../src/host/handlers/host-service.ts";
import { interactionService } from "../../src/host/handlers/interaction-service.ts";
import type {
  HandlerParts,
  HostControl,
  LoadRequest,
  WorkflowResolver,
} from "../../src/host/handlers/parts.ts";
import { rejections } from "../../src/host/handlers/rejections.ts";
import { runService } from "../../src/host/handlers/run-service.ts";
import { StreamCount } from "../../src/host/handlers/stream-count.ts";
import { SessionHub } from "../../src/host/sessions/hub.ts";
import { WIRE_DEPTH_MAX } from "../../src/host/limits.ts";
import type { GraphRecord } from "../../src/host/records.ts";
import { OutputLog } from "../../src/host/supervisor/output-log.ts";
import { HUB_GRAPH, TestRig } from "./test-host.ts";
import { temporaryFolder } from "./test-store.ts";

export interface HandlerRig {
  readonly rig: TestRig;
  readonly runs: Client<typeof RunService>;
  readonly interactions: Client<typeof InteractionService>;
  readonly effects: Client<typeof EffectService>;
  readonly host: Client<typeof HostService>;
  readonly streams: StreamCount;
  readonly resolver: TestResolver;
  /** Folder of captured output; a test writes there what a worker would have. */
  readonly workersDir: string;
  readonly faults: unknown[];
  readonly capabilities: Capabilities;
  /** What a client asked the host to do with itself. */
  readonly shutdowns: boolean[];
}

export function startHandlers(): HandlerRig {
  const rig = new TestRig();
  const streams = new StreamCount();
  const resolver = new TestResolver();
  const workersDir = temporaryFolder();
  const faults: unknown[] = [];
  const shutdowns: boolean[] = [];
  const capabilities = new Capabilities();
  const own = { streams, resolver, workersDir, shutdowns, capabilities };
  const parts = partsOf(rig, own);
  const binaryOptions = { recursionLimit: WIRE_DEPTH_MAX };
  const transport = createRouterTransport(
    (router) => {
      router
        .service(RunService, runService(parts))
        .service(InteractionService, interactionService(parts))
        .service(EffectService, effectService(parts))
        .service(HostService, hostService(parts));
    },
    {
      router: { interceptors: [rejections((error) => fault(faults, error))], binaryOptions },
      transport: { binaryOptions },
    },
  );
  return {
    rig,
    runs: createClient(RunService, transport),
    interactions: createClient(InteractionService, transport),
    effects: createClient(EffectService, transport),
    host: createClient(HostService, transport),
    streams,
    resolver,
    workersDir,
    faults,
    capabilities,
    shutdowns,
  };
}

/** Answers as workers would, from what a test says a file holds. */
export class TestResolver implements WorkflowResolver {
  readonly loads: LoadRequest[] = [];
  readonly offers: string[] = [];
  discarded = 0;
  graph: GraphRecord = HUB_GRAPH;
  /** What loading is refused with. */
  refusal: HostError | undefined;
  /** Loading waits for it, so that a test can act meanwhile. */
  gate: Promise<void> = Promise.resolve();

  find(workflow: string): string {
    if (workflow !== "missing")
      return workflow.startsWith("/") ? workflow : `/flows/${workflow}.ts`;
    throw new HostError("WORKFLOW_NOT_FOUND", "there is no such workflow", { names: ["hub"] });
  }

  async load(request: LoadRequest): ReturnType<WorkflowResolver["load"]> {
    this.loads.push(request);
    await this.gate;
    if (this.refusal !== undefined) throw this.refusal;
    return {
      graph: this.graph,
      sources: [],
      inputJson: request.inputJson,
      title: "a hub",
      warnings: [{ message: "a warning" }],
      offerTo: (runId) => void this.offers.push(runId),
      discard: () => {
        this.discarded += 1;
      },
    };
  }

  async inspect(): ReturnType<WorkflowResolver["inspect"]> {
    const warnings = [{ message: "a warning", file: "/flows/hub.ts", line: 3 }];
    const { refusal } = this;
    if (refusal === undefined) {
      const resolved = { graph: this.graph, sources: [], inputJson: "null", title: "", warnings };
      return { kind: "resolved", resolved };
    }
    const problems = refusal.details.problems ?? [];
    const { message } = refusal;
    const failure = { reason: "WORKFLOW_INVALID", message, problems, files: [], warnings } as const;
    return { kind: "failed", failure };
  }
}

let commands = 0;

/** A command of its own; the same key makes a repeat. */
export function command(key?: string, expectedRevision?: bigint): Command {
  commands += 1;
  return create(CommandSchema, {
    requestId: `request-${commands}`,
    idempotencyKey: key ?? "",
    client: "test",
    ...(expectedRevision === undefined ? {} : { expectedRevision }),
  });
}

/** The refusal a call must end with. */
export async function rejected(call: Promise<unknown>): Promise<Rejection & { code: Code }> {
  const error = await call.then(
    () => {
      throw new Error("the call was answered");
    },
    (reason: unknown) => ConnectError.from(reason),
  );
  const rejection = rejectionOf(error);
  if (rejection === undefined) throw error;
  return { ...rejection, code: error.code };
}

interface Own {
  readonly capabilities: Capabilities;
  readonly streams: StreamCount;
  readonly resolver: WorkflowResolver;
  readonly workersDir: string;
  readonly shutdowns: boolean[];
}

/** What the newest output of a worker is, here. */
export function tailOf(workerId: string): string {
  return `${"é".repeat(1_000)} written by ${workerId}\n`;
}

export function partsOf(
  rig: TestRig,
  { streams, resolver, workersDir, shutdowns, capabilities }: Own,
): HandlerParts {
  const output = new OutputLog(workersDir);
  return {
    host: rig.host,
    streams,
    capabilities,
    sessions: new SessionHub(rig.host),
    headless: { live: () => [] },
    resolver,
    live: { loopBlock: () => undefined, blockedRuns: () => [], outputTail: tailOf },
    supervisor: {
      live: () => [],
      readLog: (workerId) => output.read(workerId),
      followLog: (workerId, options) => output.follow(workerId, options),
      removeLogs: (isKnown) => output.removeUnless(isKnown),
    },
    control: controlOf(rig, shutdowns),
  };
}

function controlOf(rig: TestRig, shutdowns: boolean[]): HostControl {
  return {
    version: "1.2.3",
    startedAt: rig.at.clock.now(),
    capacity: 4,
    retentionMs: 30 * 86_400_000,
    state: () => "serving",
    uptimeMs: () => rig.at.clock.monotonic(),
    shutDown: (now) => void shutdowns.push(now),
  };
}

function fault(faults: unknown[], error: unknown): string {
  faults.push(error);
  return `err_${faults.length}`;
}
