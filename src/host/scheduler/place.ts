import type { Activation } from "../activation/activation.ts";
import type { TakenPlace } from "./select.ts";

/** One of the places that the capacity counts, from the search for a worker until its tree is gone. */
export class Place implements TakenPlace {
  readonly runId: string;
  readonly projectDir: string;
  activation: Activation | undefined;
  /** Absent while a worker is being found, which may be given up; what came after may not. */
  busy: Promise<void> | undefined;

  constructor({ runId, projectDir }: TakenPlace) {
    this.runId = runId;
    this.projectDir = projectDir;
  }

  async occupy(work: Promise<void>): Promise<void> {
    this.busy = work;
    await work;
  }
}
