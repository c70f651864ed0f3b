import { TextDecoder } from "node:util";
import { ReadRunLogResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { ReadRunLogResponse } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { integer } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { bytes, safeLines } from "../text.ts";
import { messageJson } from "../values.ts";
import { RUN } from "./shared.ts";

const TAIL_MAX = 2 ** 31;

export const command: Command = {
  description:
    "Shows what the run's workers wrote to their standard output and error: the first 64 KiB\n" +
    "and the last MiB of each worker. On a terminal control characters are shown, not obeyed.",
  positionals: [RUN],
  options: {
    follow: { type: "boolean", help: "Go on with new output until the run ends" },
    tail: { type: "string", value: "BYTES", help: "Only about the last so many bytes" },
  },
  examples: [
    ["logs run_01jd", "everything that is kept"],
    ["logs run_01jd --tail 4096 --follow", "the end, and what comes"],
  ],
  async run(args, cli) {
    const tail = args.text("tail");
    const tailBytes =
      tail === undefined ? 0n : BigInt(integer("tail", tail, { min: 1, max: TAIL_MAX }));
    const client = await cli.connect();
    const request = { runId: args.required(0), follow: args.flag("follow"), tailBytes };
    const writer = new Writer(cli);
    const stop = new AbortController();
    const leave = (): void => stop.abort();
    process.once("SIGINT", leave);
    try {
      const signal = AbortSignal.any([stop.signal, cli.out.gone]);
      for await (const piece of client.runs.readRunLog(request, { signal }))
        await writer.write(piece);
      return ExitCode.success;
    } catch (error) {
      if (stop.signal.aborted) return ExitCode.stillRunning;
      throw error;
    } finally {
      process.removeListener("SIGINT", leave);
    }
  },
};

class Writer {
  readonly #cli: Cli;
  /** A letter may be cut between two pieces of one worker's output. */
  readonly #decoders = new Map<string, TextDecoder>();

  constructor(cli: Cli) {
    this.#cli = cli;
  }

  async write(piece: ReadRunLogResponse): Promise<void> {
    const { out, json } = this.#cli;
    if (piece.data.length === 0 && piece.droppedBytes === 0n) return;
    if (json) {
      await out.flow(`${JSON.stringify(messageJson(ReadRunLogResponseSchema, piece))}\n`);
      return;
    }
    if (piece.droppedBytes > 0n) await out.flow(`\n[… ${bytes(piece.droppedBytes)} cut here …]\n`);
    await out.flow(out.isTerminal ? safeLines(this.#decode(piece)) : piece.data);
  }

  #decode({ workerId, data }: ReadRunLogResponse): string {
    const decoder = this.#decoders.get(workerId) ?? new TextDecoder();
    this.#decoders.set(workerId, decoder);
    return decoder.decode(data, { stream: true });
  }
}
