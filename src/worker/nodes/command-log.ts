/** A command that prints more than this is cut in the run's log; its output is kept as it says. */
const LOG_CHARS_MAX = 1_048_576;

const CUT = "\n[the rest of this command's output is not in the log]\n";

/** Writes to the output of this worker. */
export type Print = (stream: "stdout" | "stderr", text: string) => void;

/**
 * Copies what a command prints to this worker's own output, which the host
 * captures: `logs` and `watch` then show it while the command runs. Bounded, so
 * that a flood costs the command and not the host.
 */
export class CommandLog {
  readonly #print: Print;
  #left = LOG_CHARS_MAX;

  constructor(print: Print) {
    this.#print = print;
  }

  add(stream: "stdout" | "stderr", text: string): void {
    if (this.#left <= 0) return;
    const piece = text.slice(0, this.#left);
    this.#left -= text.length;
    this.#print(stream, piece);
    if (this.#left <= 0) this.#print(stream, CUT);
  }

  /** Shows the end of what was cut, where a failure mostly says why. */
  end(stderrTail: string): void {
    if (this.#left <= 0 && stderrTail !== "") this.#print("stderr", stderrTail);
  }
}
