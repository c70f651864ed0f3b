import { TextDecoder } from "node:util";
import { create } from "@bufbuild/protobuf";
import { ReadRunLogResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import { integer } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { followLog, readLog } from "../follow-log.ts";
import type { LogFollow, LogPiece } from "../follow-log.ts";
import { ExitCode } from "../exit-codes.ts";
import { bytes, safeLines } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import { leave } from "../watch-run.ts";
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
      tail === undefined ? undefined : integer("tail", tail, { min: 1, max: TAIL_MAX });
    const client = await cli.connect();
    const runId = args.required(0);
    const writer = new Writer(cli);
    const write = (piece: LogPiece): Promise<void> => writer.write(piece);
    if (args.flag("follow")) return await follow(cli, { client, runId, tailBytes, write });
    await readLog({ client, runId, tailBytes, write, signal: cli.out.gone });
    return ExitCode.success;
  },
};

async function follow(
  cli: Cli,
  wanted: Pick<LogFollow, "client" | "runId" | "tailBytes" | "write">,
): Promise<ExitCode> {
  const stop = new AbortController();
  const leaving = (): void => stop.abort();
  process.once("SIGINT", leaving);
  try {
    const end = await followLog({
      ...wanted,
      clock: cli.clock,
      paths: cli.paths(),
      signal: AbortSignal.any([stop.signal, cli.out.gone]),
      notice: (text) => cli.out.note(`pi-workflows: ${text}`),
    });
    return end === "ended" ? ExitCode.success : leave(cli, `logs ${wanted.runId} --follow`, end);
  } finally {
    process.removeListener("SIGINT", leaving);
  }
}

class Writer {
  readonly #cli: Cli;
  /** A letter may be cut between two pieces of one worker's output. */
  readonly #decoders = new Map<string, TextDecoder>();

  constructor(cli: Cli) {
    this.#cli = cli;
  }

  async write(piece: LogPiece): Promise<void> {
    const { out, json } = this.#cli;
    if (piece.data.length === 0 && piece.droppedBytes === 0n) return;
    if (json) {
      const message = create(ReadRunLogResponseSchema, piece);
      await out.flow(`${JSON.stringify(messageJson(ReadRunLogResponseSchema, message))}\n`);
      return;
    }
    if (piece.droppedBytes > 0n) await out.flow(`\n[… ${bytes(piece.droppedBytes)} cut here …]\n`);
    await out.flow(out.isTerminal ? safeLines(this.#decode(piece)) : piece.data);
  }

  #decode({ workerId, data }: LogPiece): string {
    const decoder = this.#decoders.get(workerId) ?? new TextDecoder();
    this.#decoders.set(workerId, decoder);
    return decoder.decode(data, { stream: true });
  }
}
