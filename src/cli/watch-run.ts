/** What `watch` and `start --wait` share: watching until the run ends or somebody leaves. */
import type { HostClient } from "../client/host-client.ts";
import { RunStatus } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { RunView } from "../gen/piworkflows/common/v1/run_pb.ts";
import type { Arguments } from "./arguments.ts";
import type { Cli, Options } from "./command.ts";
import { ExitCode } from "./exit-codes.ts";
import { followRun } from "./follow-run.ts";
import type { FollowEnd } from "./follow-run.ts";
import { exitCodeOfRun } from "./outcome.ts";
import { parseDuration } from "./times.ts";
import { endLines, stateLines } from "./views/run-view.ts";
import { watchViewer } from "./views/viewers.ts";
import type { WatchViewer } from "./views/viewers.ts";
import { answerCommand, awaited } from "./views/waiting.ts";
import { isQuestion, needsSomebody, remedies, statusWord } from "./views/words.ts";
import { safe } from "../platform/text.ts";
import { frameOf } from "./commands/shared.ts";

export const WATCH_OPTIONS: Options = {
  timeout: {
    type: "string",
    value: "DURATION",
    help: "Leave after this time; the run goes on (exit code 16)",
  },
  stay: {
    type: "boolean",
    help: "Stay while the run needs an answer, is paused or is blocked (as on a terminal)",
  },
};

/** The time limit in milliseconds. Commands read it before they do anything, so that it is right. */
export function watchLimit(args: Arguments): number | undefined {
  const text = args.text("timeout");
  return text === undefined ? undefined : parseDuration("timeout", text);
}

export interface Watching {
  readonly client: HostClient;
  readonly runId: string;
  /** Called when the run asks something; true when it was answered here. */
  readonly onQuestion?: (view: RunView) => Promise<boolean>;
  /** Replaces the viewer that the surroundings call for. */
  readonly viewer?: WatchViewer;
  /** The command that goes on with this, with RUN for the run; `watch` by default. */
  readonly command?: string;
  /** True when only the following matters: it lasts until the run has ended, and prints no state. */
  readonly quiet?: boolean;
}

/** Watches and returns how the program must end. Leaving never touches the run. */
export async function watchRun(cli: Cli, args: Arguments, watching: Watching): Promise<ExitCode> {
  const leaving = new Leaving(cli, watchLimit(args));
  const stays = args.flag("stay") || cli.canAsk || watching.quiet === true;
  const enough = (view: RunView): boolean =>
    (watching.onQuestion !== undefined && isQuestion(view)) || (!stays && isStuck(view));
  const until = { signal: leaving.signal, enough };
  try {
    for (;;) {
      const seen = await watchOnce(cli, watching, until);
      const answered = await askIfQuestion(watching, seen);
      if (answered === undefined) return finish(cli, watching, seen);
      if (!answered) return leaveRun(cli, watching, "stopped", seen.view);
    }
  } finally {
    leaving.end();
  }
}

interface Seen {
  readonly end: FollowEnd;
  readonly view: RunView | undefined;
}

interface Until {
  readonly signal: AbortSignal;
  readonly enough: (view: RunView) => boolean;
}

async function watchOnce(cli: Cli, watching: Watching, until: Until): Promise<Seen> {
  const viewer = watching.viewer ?? watchViewer(cli, watching.onQuestion !== undefined);
  let view: RunView | undefined;
  try {
    const end = await followRun({
      client: watching.client,
      clock: cli.clock,
      paths: cli.paths(),
      runId: watching.runId,
      viewer: {
        notice: (text) => viewer.notice(text),
        show: async (seen, response) => {
          view = seen;
          await viewer.show(seen, response);
        },
      },
      ...until,
    });
    return { end, view };
  } finally {
    await viewer.end();
  }
}

/** Whether the question the run stands at was answered; absent when it stands at none. */
async function askIfQuestion(
  { onQuestion }: Watching,
  { end, view }: Seen,
): Promise<boolean | undefined> {
  if (onQuestion === undefined || end !== "enough" || view === undefined) return undefined;
  return isQuestion(view) ? await onQuestion(view) : undefined;
}

function finish(cli: Cli, watching: Watching, { end, view }: Seen): ExitCode {
  if (end === "stopped" || end === "host_gone") return leaveRun(cli, watching, end, view);
  if (view?.summary === undefined) throw new Error("the host sent no state of the run");
  if (!cli.json && watching.quiet !== true) printEnd(cli, end, view);
  return exitCodeOfRun(view.summary);
}

function commandOf({ runId, command = "watch RUN" }: Watching): string {
  return command.replace("RUN", runId);
}

function printEnd(cli: Cli, end: FollowEnd, view: RunView): void {
  const frame = frameOf(cli);
  // The live picture shows the state already; lines of text have not told it yet.
  if (end === "enough" && !cli.out.canRedraw) cli.out.lines(stateLines(view, frame));
  cli.out.lines(endLines(view, frame));
}

/** A run that needs somebody does not go on; the rest does. */
function leaveRun(
  cli: Cli,
  watching: Watching,
  end: "stopped" | "host_gone",
  view: RunView | undefined,
): ExitCode {
  const need = end === "stopped" && view !== undefined ? needLine(view) : "";
  if (need === "") return leave(cli, commandOf(watching), end);
  if (!cli.out.gone.aborted) cli.out.note(need);
  return ExitCode.stillRunning;
}

/** What the run stands still for and what to type; empty when it goes on by itself. */
function needLine({ summary, interaction }: RunView): string {
  if (summary === undefined || !needsSomebody(summary)) return "";
  const { runId, interactionId, interactionKind: kind, status } = summary;
  if (status !== RunStatus.WAITING) {
    const [only, ...others] = remedies(summary);
    const command = others.length > 0 ? undefined : only;
    return `the run is ${statusWord(summary)}: ${command ?? `pi-workflows show ${runId}`}`;
  }
  const what = interaction === undefined ? "" : ` ("${safe(interaction.summary)}")`;
  return `the run waits for ${awaited(kind)}${what}: ${answerCommand({ kind, interactionId })}`;
}

/** Says what becomes of the run, and the command that goes on where this one left. */
export function leave(cli: Cli, again: string, end: "stopped" | "host_gone"): ExitCode {
  const what =
    end === "stopped"
      ? "the run goes on"
      : "the host was stopped; the run goes on when a host is started again";
  if (!cli.out.gone.aborted) cli.out.note(`${what}: pi-workflows ${again}`);
  return ExitCode.stillRunning;
}

function isStuck({ summary }: RunView): boolean {
  return summary !== undefined && needsSomebody(summary);
}

/** Ctrl-C, a time limit, and a reader that went away all end the watching, never the run. */
class Leaving {
  readonly #controller = new AbortController();
  readonly #cancel: () => void;
  readonly signal: AbortSignal;

  constructor(cli: Cli, limitMs: number | undefined) {
    const abort = (): void => this.#controller.abort();
    process.once("SIGINT", abort);
    const timer = limitMs === undefined ? undefined : cli.clock.after(limitMs, abort);
    this.#cancel = () => {
      process.removeListener("SIGINT", abort);
      timer?.cancel();
    };
    this.signal = AbortSignal.any([this.#controller.signal, cli.out.gone]);
  }

  end(): void {
    this.#cancel();
  }
}
