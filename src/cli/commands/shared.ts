/** What most commands need. */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { RunSummary, RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { newId } from "../../platform/ids.ts";
import type { Cli, Option, Positional } from "../command.ts";
import { plural, safe } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import type { Frame } from "../views/attempts.ts";
import { problemLine } from "../report-error.ts";
import type { Problem } from "../../gen/piworkflows/common/v1/error_pb.ts";
import { sessionFileOf } from "../session-file.ts";
import { colourOf, statusWord } from "../views/words.ts";

export const RUN: Positional = { name: "RUN", completes: "run" };

export const KEY_OPTION: Option = {
  type: "string",
  value: "KEY",
  help: "Idempotency key: the same key again gets the first answer and does nothing",
};

export interface CommandFields {
  readonly requestId: string;
  readonly idempotencyKey: string;
  readonly client: string;
}

/** The `command` of a request. One per intention: it is sent again as it is when a reply was lost. */
export function newCommand(key?: string): CommandFields {
  const requestId = newId("req");
  return { requestId, idempotencyKey: key ?? requestId, client: "cli" };
}

export function frameOf(cli: Cli): Frame {
  const { out, clock } = cli;
  return {
    now: clock.now(),
    columns: out.columns,
    style: out.style,
    sessionFile: (runId) => sessionFileOf(cli.paths(), runId),
  };
}

/** Prints a response as JSON, or what `lines` makes of it. */
export function printResponse<Desc extends DescMessage>(
  cli: Cli,
  schema: Desc,
  response: MessageShape<Desc>,
  lines: () => readonly string[],
): void {
  if (cli.json) cli.out.json(messageJson(schema, response));
  else cli.out.lines(lines());
}

/** "run_… is paused: title". */
export function runLine(run: RunSummary | undefined, cli: Cli): string {
  if (run === undefined) return "";
  const status = statusWord(run);
  return `${run.runId} is ${cli.out.style(colourOf(status), status)}: ${safe(run.title)}`;
}

/** Findings that did not prevent anything; said beside the result. */
export function noteWarnings(cli: Cli, warnings: readonly Problem[]): void {
  if (cli.json || warnings.length === 0) return;
  cli.out.note(`${plural(warnings.length, "warning")}:`);
  for (const warning of warnings) cli.out.note(`  ${problemLine(warning)}`);
}

/** The view of a run; throws when the host sends none, which it never does. */
export function viewOf(run: RunView | undefined): RunView {
  if (run === undefined) throw new Error("the host answered without the run");
  return run;
}
