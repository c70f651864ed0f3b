import type { HostClient } from "../../client/host-client.ts";
import type { Event } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { EventSchema } from "../../gen/piworkflows/common/v1/run_pb.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { localTime, safe, shortJson } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import { watchRun } from "../watch-run.ts";
import { msOf } from "../views/words.ts";
import { RUN } from "./shared.ts";

const PAGE_SIZE = 500;
const DATA_CHARS_MAX = 200;
const KIND_CHARS = 12;
const NODE_CHARS = 16;

export const command: Command = {
  description:
    "Shows every committed change of a run, oldest first. With --json one event per line.",
  positionals: [RUN],
  options: { follow: { type: "boolean", help: "Go on with new events until the run ends" } },
  examples: [
    ["events run_01jd", "what happened so far"],
    ["events run_01jd --follow --json", "as it happens, for a program"],
  ],
  async run(args, cli) {
    const client = await cli.connect();
    const reader = new Reader(cli, client, args.required(0));
    await reader.read();
    if (!args.flag("follow")) return ExitCode.success;
    const viewer = {
      show: () => reader.read(),
      notice: (text: string) => cli.out.note(`pi-workflows: ${text}`),
      end: () => Promise.resolve(),
    };
    const watching = {
      client,
      runId: args.required(0),
      viewer,
      quiet: true,
      command: "events RUN --follow",
    };
    const code = await watchRun(cli, args, watching);
    return code === ExitCode.stillRunning ? code : ExitCode.success;
  },
};

/** Prints each event once, from where it stopped the last time. */
class Reader {
  readonly #cli: Cli;
  readonly #client: HostClient;
  readonly #runId: string;
  #after = 0n;

  constructor(cli: Cli, client: HostClient, runId: string) {
    this.#cli = cli;
    this.#client = client;
    this.#runId = runId;
  }

  async read(): Promise<void> {
    for (let more = true; more && !this.#cli.out.gone.aborted;) {
      const request = { runId: this.#runId, afterRevision: this.#after, pageSize: PAGE_SIZE };
      const page = await this.#client.call(({ runs }) => runs.listEvents(request));
      for (const event of page.events) await this.#cli.out.flow(`${this.#line(event)}\n`);
      this.#after = page.events.at(-1)?.revision ?? this.#after;
      more = page.more && page.events.length > 0;
    }
  }

  #line(event: Event): string {
    if (this.#cli.json) return JSON.stringify(messageJson(EventSchema, event));
    const at = localTime(msOf(event.at) ?? 0);
    const kind = this.#cli.out.style("bold", safe(event.kind).padEnd(KIND_CHARS));
    const hasData = event.data !== undefined && Object.keys(event.data).length > 0;
    const data = hasData
      ? shortJson(event.data, this.#cli.out.isTerminal ? DATA_CHARS_MAX : Number.POSITIVE_INFINITY)
      : "";
    return `${String(event.revision).padStart(5)}  ${at}  ${kind}  ${safe(event.node).padEnd(NODE_CHARS)}  ${data}`.trimEnd();
  }
}
