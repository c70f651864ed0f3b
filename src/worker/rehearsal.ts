/**
 * A trial of what a worker does, so that the first real activation of a spare
 * meets compiled code. It touches nothing outside this process.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AttemptStatus } from "../gen/piworkflows/common/v1/attempt_pb.ts";
import { ActivationKind, StateKind } from "../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { Bootstrap, StateValue } from "../gen/piworkflows/worker/v1/bootstrap_pb.ts";
import {
  WorkRequestSchema,
  WorkResponseSchema,
} from "../gen/piworkflows/worker/v1/worker_service_pb.ts";
import { systemClock } from "../platform/clock.ts";
import { isCrashPointArmed } from "../platform/crash-points.ts";
import { defineWorkflow } from "../workflow/define-workflow.ts";
import { checkpoint, compute } from "../workflow/nodes.ts";
import { serveActivation } from "./active-run.ts";
import type { LoadedWorkshop } from "./active-run.ts";
import { Gathering } from "./activation.ts";
import type { FrameBody, HostStream, OrderBody } from "./host-link.ts";

/** Serves two activations of a workflow of its own: one that executes, one that only routes. */
export async function rehearse(): Promise<void> {
  // The place at which a test lets a run's worker die shall not be met by a spare.
  if (isCrashPointArmed()) return;
  await serve(ActivationKind.START, { isAttached: false });
  await serve(ActivationKind.ANSWERED, { isAttached: true });
}

const WORKFLOW = defineWorkflow({
  name: "rehearsal",
  startAt: "ask",
  nodes: {
    ask: checkpoint({ summary: "Ready?" }),
    next: compute({ run: ({ input, outputs }) => ({ input, outputs }) }),
  },
  edges: [{ from: "ask", to: "next" }],
});

async function serve(kind: ActivationKind, how: { readonly isAttached: boolean }): Promise<void> {
  const begin = { kind, attemptId: "att_0", attempt: 1, boundary: 2n, countedAttempts: 0 };
  const bootstrap = received({
    case: "bootstrap",
    value: {
      ...PLACE,
      node: kind === ActivationKind.START ? "next" : "ask",
      ...(how.isAttached ? { begin } : {}),
    },
  }) as Bootstrap;
  const gathering = new Gathering(bootstrap);
  for (const value of STATE) gathering.addState(received({ case: "state", value }) as StateValue);
  const { signal } = new AbortController();
  const stream = answeringStream({ case: "begin", value: begin });
  await serveActivation(
    { clock: systemClock, stream, workshop: WORKSHOP, stop: signal },
    gathering,
  );
}

const PLACE = {
  runId: "run_0",
  generation: 1,
  workflow: WORKFLOW.name,
  projectDir: "/",
  boundary: 1n,
  stateFrames: 2,
  visit: 1,
  steps: 1,
};

const STATE = [
  { kind: StateKind.INPUT, json: Buffer.from("{}") },
  {
    kind: StateKind.RESULT,
    node: "ask",
    json: Buffer.from("{}"),
    status: AttemptStatus.OK,
    attempt: 1,
    visit: 1,
  },
];

const WORKSHOP: LoadedWorkshop = {
  load: async () => await Promise.resolve(LOADED),
  keep: async () => await Promise.resolve(LOADED),
  holds: () => true,
  takeNewSources: () => [],
};

const LOADED = {
  workflow: WORKFLOW,
  graph: WORKFLOW.graph,
  problems: [],
  warnings: [],
  sources: [],
};

type ResponseBody = NonNullable<MessageInitShape<typeof WorkResponseSchema>["body"]>;

/** A host that lets the run begin, go one step and end. */
function answeringStream(begin: ResponseBody): HostStream {
  return {
    bind: () => undefined,
    ask: async (body) => {
      say(body);
      await Promise.resolve();
      if (body.case === "ready") return answered(begin);
      const isEnd = body.case === "advance" && body.value.follow?.case === "end";
      const value = { boundary: 3n, attemptId: "att_1", attempt: 1, visit: 1, parked: isEnd };
      return answered({ case: "ack", value });
    },
    tell: say,
    whenFlushed: (run) => run(),
  };
}

function say(body: FrameBody): void {
  const frame = create(WorkRequestSchema, { number: 1n, attemptId: "att_0", body });
  toBinary(WorkRequestSchema, frame);
}

function answered(body: ResponseBody): OrderBody {
  const frame = create(WorkResponseSchema, { inReplyTo: 1n, body });
  return fromBinary(WorkResponseSchema, toBinary(WorkResponseSchema, frame)).body;
}

function received(body: ResponseBody): unknown {
  return answered(body).value;
}
