/** News of open steps, told by whoever works on them. */
import { create } from "@bufbuild/protobuf";
import { PublishUpdateResponseSchema } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import type {
  PublishUpdateRequest,
  PublishUpdateResponse,
} from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { ProgressWriter } from "../progress-writer.ts";
import type { HostContext } from "../context.ts";
import { requireUpdatable, writeStepUpdate } from "../operations/progress.ts";
import { checkName, checkSession } from "./checks.ts";

/** How long the pace of a run's updates is remembered after the newest. */
const FORGET_MS = 60_000;

/** Writes the newest update of each step at most once a second, whoever calls how often. */
export class StepUpdates {
  readonly #host: HostContext;
  readonly #writers = new Map<string, { readonly writer: ProgressWriter; usedAt: number }>();

  constructor(host: HostContext) {
    this.#host = host;
  }

  publish(request: PublishUpdateRequest): PublishUpdateResponse {
    const interactionId = checkName("interaction_id", request.interactionId);
    const { sessionId } = checkSession(request.sessionId);
    // Checked at once, so that a caller with a wrong id is told so.
    requireUpdatable(this.#host.store.reader, interactionId, sessionId);
    this.#writerOf(interactionId).publish(interactionId, request.text);
    return create(PublishUpdateResponseSchema);
  }

  #writerOf(interactionId: string): ProgressWriter {
    const now = this.#host.clock.monotonic();
    const known = this.#writers.get(interactionId);
    if (known !== undefined) {
      known.usedAt = now;
      return known.writer;
    }
    this.#forget(now);
    const writer = new ProgressWriter(this.#host.clock, (id, text) => void this.#write(id, text));
    this.#writers.set(interactionId, { writer, usedAt: now });
    return writer;
  }

  #forget(now: number): void {
    for (const [interactionId, { writer, usedAt }] of this.#writers) {
      if (now - usedAt < FORGET_MS) continue;
      writer.close();
      this.#writers.delete(interactionId);
    }
  }

  async #write(interactionId: string, text: string): Promise<void> {
    try {
      await writeStepUpdate(this.#host, { interactionId, text });
    } catch (error) {
      // An update is news and no state: the next one is written again.
      this.#host.log.warn("update.unwritten", { interactionId, error });
    }
  }
}
