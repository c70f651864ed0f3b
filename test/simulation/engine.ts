/** What a simulated worker makes of the frames it reads, and what it does in between. */
import { AttemptStatus } from "../../src/gen/piworkflows/common/v1/attempt_pb.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { GrantKind } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import type { Ack, EffectGrant } from "../../src/gen/piworkflows/worker/v1/answers_pb.ts";
import { ActivationKind, StateKind } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type { Begin, Bootstrap } from "../../src/gen/piworkflows/worker/v1/bootstrap_pb.ts";
import type {
  WorkRequest,
  WorkResponse,
} from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import type { WorkerExit } from "../../src/host/supervisor/supervised-worker.ts";
import type { Author } from "./author.ts";
import { effectKey } from "./author.ts";
import type { Outside } from "./outside.ts";
import type { Place, Proposed } from "./place.ts";
import type { Random } from "./random.ts";
import type { SimWorker } from "./sim-worker.ts";

export interface EngineTools {
  readonly random: Random;
  readonly author: Author;
  readonly outside: Outside;
  /** False when the recorded files are no longer those on the disk. */
  readonly sourcesFit: (bootstrap: Bootstrap) => boolean;
}

type Phase = "idle" | "gathering" | "executing" | "granted" | "asking" | "validating" | "left";

export class Engine {
  readonly worker: SimWorker;
  readonly #tools: EngineTools;
  #phase: Phase = "idle";
  #bootstrap: Bootstrap | undefined;
  #missing = 0;
  #place: Place | undefined;
  #grant: EffectGrant | undefined;
  /** Whether the effect that was granted has happened. */
  #performed = false;
  #ended: AttemptStatus = AttemptStatus.OK;
  #asked: { readonly frame: WorkRequest; readonly proposed: Proposed } | undefined;

  constructor(worker: SimWorker, tools: EngineTools) {
    this.worker = worker;
    this.#tools = tools;
  }

  /** It would do something if it had the time. */
  get isBusy(): boolean {
    return ["executing", "granted", "validating"].includes(this.#phase);
  }

  get isApplying(): boolean {
    return this.#phase === "granted";
  }

  reads({ body, inReplyTo }: WorkResponse): void {
    switch (body.case) {
      case "bootstrap":
        this.#bootstrap = body.value;
        this.#missing = body.value.stateFrames + body.value.sourceFrames;
        this.#phase = "gathering";
        break;
      case "state":
        this.#gather(body.value.kind === StateKind.RESULT ? body.value : undefined);
        break;
      case "source":
        this.#gather(undefined);
        break;
      case "begin":
        this.#begin(body.value);
        break;
      case "ack":
        if (this.#asked?.frame.number === inReplyTo) this.#acknowledged(body.value);
        break;
      case "effect":
        if (this.#asked?.frame.number === inReplyTo) this.#granted(body.value);
        break;
      case "refused":
        // The node's code would be told by a throw; here it gives up.
        if (this.#asked?.frame.number === inReplyTo) this.leaves("exit", 1);
        break;
      case "lost":
      case "stop":
        this.leaves("exit", 0);
        break;
      default:
    }
  }

  /** The node's code gets a moment. */
  acts(): void {
    const { random, author, outside } = this.#tools;
    const place = this.#place;
    if (place === undefined) return;
    if (this.#phase === "validating") this.#propose(author.validates(place));
    else if (this.#phase === "granted") this.#appliesOrTells(place);
    else if (this.#phase === "executing") {
      if (random.chance(0.1)) this.worker.says(author.progress(place));
      else this.#propose(author.acts(place, outside));
    }
  }

  leaves(cause: WorkerExit["cause"], code: number): void {
    this.#phase = "left";
    this.worker.dies({ cause, code, signal: undefined });
  }

  #gather(result: { readonly node: string; readonly status: AttemptStatus } | undefined): void {
    const bootstrap = this.#bootstrap;
    if (bootstrap === undefined || this.#phase !== "gathering") return;
    if (result?.node === bootstrap.node) this.#ended = result.status;
    this.#missing -= 1;
    if (this.#missing > 0) return;
    if (bootstrap.begin !== undefined) this.#begin(bootstrap.begin);
    else this.#saysWhatItLoaded(bootstrap);
  }

  #saysWhatItLoaded(bootstrap: Bootstrap): void {
    this.#phase = "asking";
    if (bootstrap.useRecorded || this.#tools.sourcesFit(bootstrap)) {
      this.worker.says(this.#tools.author.ready());
    } else {
      const message = "the workflow's file has changed";
      const value = { reason: Reason.SOURCE_CHANGED, message, files: [bootstrap.workflowPath] };
      this.worker.says({ case: "loadFailed", value });
    }
  }

  #begin({ kind, attemptId, attempt, boundary, countedAttempts }: Begin): void {
    const { node = "", visit = 1, steps = 0, runId = "" } = this.#bootstrap ?? {};
    const failures = countedAttempts;
    this.#place = { runId, node, visit, steps, attemptId, attempt, boundary, failures };
    if (kind === ActivationKind.VALIDATE) this.#phase = "validating";
    else if (kind === ActivationKind.START || kind === ActivationKind.CONTINUE) {
      this.#phase = "executing";
    } else this.#propose(this.#tools.author.routes(this.#place, this.#ended));
  }

  #propose(proposed: Proposed): void {
    const place = this.#place;
    if (place === undefined) return;
    const { attemptId, boundary: expectedBoundary } = place;
    const frame = this.worker.says(proposed.body, { attemptId, expectedBoundary });
    this.#phase = "asking";
    if (proposed.body.case === "exiting") this.#asked = undefined;
    else this.#asked = { frame, proposed };
  }

  #acknowledged({ parked, attemptId, attempt, visit, boundary }: Ack): void {
    const { next } = this.#asked?.proposed ?? {};
    this.#asked = undefined;
    if (parked || next === undefined || this.#place === undefined) {
      this.leaves("exit", 0);
      return;
    }
    this.#place = { ...this.#place, ...next, attemptId, attempt, visit, boundary };
    this.#phase = "executing";
  }

  #granted(grant: EffectGrant): void {
    const { author, outside } = this.#tools;
    const place = this.#place;
    this.#asked = undefined;
    if (place === undefined || grant.kind === GrantKind.BLOCKED) {
      this.leaves("exit", 0);
    } else if (grant.kind === GrantKind.STORED) {
      this.#propose(author.tellsApplied(place, grant));
    } else {
      this.#grant = grant;
      this.#performed = grant.kind === GrantKind.OBSERVE && outside.has(effectKey(place));
      this.#phase = "granted";
    }
  }

  #appliesOrTells(place: Place): void {
    const { random, author, outside } = this.#tools;
    const grant = this.#grant;
    if (grant === undefined) return;
    if (this.#performed) {
      const isLost = random.chance(0.1);
      this.#propose(isLost ? author.tellsUnknown(grant) : author.tellsApplied(place, grant));
    } else if (random.chance(0.2)) {
      const isSaid = random.chance(0.5);
      this.#propose(isSaid ? author.tellsRejected(place, grant) : author.tellsUnknown(grant));
    } else {
      outside.apply(effectKey(place), author.policyOf(place));
      this.#performed = true;
      this.worker.says(author.progress(place));
    }
  }
}
