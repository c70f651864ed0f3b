import type { Activation } from "../activation/activation.ts";
import type { TakenPlace } from "./select.ts";

/** One of the places that the capacity counts, from the search for a worker until its tree is gone. */
export class Place implements TakenPlace {
  readonly runId: string;
  readonly projectDir: string;
  activation: Activation | undefined;
  /** Absent while a worker is being found, which may be given up; what came after may not. */
  busy: Promise<void> | undefined;

  readonly #forValidation: boolean;

  constructor({ runId, projectDir, activation }: TakenPlace & { readonly activation?: string }) {
    this.runId = runId;
    this.projectDir = projectDir;
    this.#forValidation = activation === "validate";
  }

  /** False from when the submission was accepted and the run goes on in the same worker. */
  get isValidating(): boolean {
    return this.#forValidation && this.activation?.hasMovedOn !== true;
  }

  async occupy(work: Promise<void>): Promise<void> {
    this.busy = work;
    await work;
  }
}
