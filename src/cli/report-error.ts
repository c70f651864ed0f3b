/** Every way a command can go wrong, in words, as JSON and as an exit code. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { Problem, Reason, Rejection } from "../gen/piworkflows/common/v1/error_pb.ts";
import { StateFolderError } from "../platform/state-folder.ts";
import { NotFoundError, RefusedError, UsageError } from "./arguments.ts";
import { ExitCode } from "./exit-codes.ts";
import type { Output } from "./output.ts";
import { safe, safeLines } from "../platform/text.ts";

type Kind = "usage" | "refused" | "unreachable" | "internal";

interface Report {
  readonly kind: Kind;
  readonly exitCode: ExitCode;
  readonly message: string;
  /** Further lines for people: problems, names, paths. */
  readonly details: readonly string[];
  readonly json: Readonly<Record<string, JsonValue>>;
}

export interface Failing {
  readonly out: Output;
  readonly json: boolean;
  /** The command, for the way to its help; empty when there is none. */
  readonly command: string;
}

/** Tells what went wrong and returns how the program must end. Never throws, never shows a stack. */
export async function reportError(
  { out, json, command }: Failing,
  error: unknown,
): Promise<ExitCode> {
  const report = await describe(error, command);
  const { kind, exitCode, message } = report;
  if (json) {
    out.json({ error: { kind, exitCode, message, ...report.json } });
  } else {
    out.note(`pi-workflows: ${safeLines(message)}`);
    for (const line of report.details) out.note(`  ${safeLines(line)}`);
  }
  return exitCode;
}

async function describe(error: unknown, command: string): Promise<Report> {
  if (error instanceof UsageError) return usage(error, command);
  // Only a command that talked to a host can fail by it; the others need not load the client.
  if (error instanceof RefusedError) return plain("refused", ExitCode.refused, error);
  if (error instanceof NotFoundError) return plain("refused", ExitCode.notFound, error);
  if (error instanceof StateFolderError) return plain("unreachable", ExitCode.unreachable, error);
  const { HostUnreachableError } = await import("../client/host-error.ts");
  if (error instanceof HostUnreachableError) {
    const { message, logPath } = error;
    return {
      kind: "unreachable",
      exitCode: ExitCode.unreachable,
      message,
      details: error.kind === "absent" ? [] : [`log: ${logPath}`, ...waitHint(message)],
      json: { logPath },
    };
  }
  return (await ofHost(error)) ?? ofMachine(error);
}

/** A host that is slow to start is not a host that cannot start. */
function waitHint(message: string): readonly string[] {
  return message.startsWith("no host came to listen")
    ? ["it may still be starting: try again in a moment"]
    : [];
}

function usage(error: Error, command: string): Report {
  const help = command === "" ? "pi-workflows help" : `pi-workflows help ${command}`;
  return {
    kind: "usage",
    exitCode: ExitCode.usage,
    message: error.message,
    details: [`see: ${help}`],
    json: {},
  };
}

function plain(kind: Kind, exitCode: ExitCode, { message }: Error): Report {
  return { kind, exitCode, message, details: [], json: {} };
}

async function ofHost(error: unknown): Promise<Report | undefined> {
  const { Code, ConnectError } = await import("@connectrpc/connect");
  if (!(error instanceof ConnectError)) return undefined;
  const { rejectionOf } = await import("../client/rejection.ts");
  const rejection = rejectionOf(error);
  if (rejection !== undefined) return await refused(rejection);
  const gone = [Code.Unavailable, Code.Canceled, Code.Aborted, Code.DeadlineExceeded];
  const unreachable = gone.includes(error.code) || error.code === Code.Unimplemented;
  return {
    kind: unreachable ? "unreachable" : "internal",
    exitCode: unreachable ? ExitCode.unreachable : ExitCode.internal,
    message: unreachable ? `the host did not answer: ${error.rawMessage}` : error.rawMessage,
    details: [],
    json: { code: Code[error.code] },
  };
}

async function refused(rejection: Rejection): Promise<Report> {
  const { RejectionSchema, Reason: reasons } =
    await import("../gen/piworkflows/common/v1/error_pb.ts");
  const { messageJson } = await import("./values.ts");
  const { exitCodeOfReason } = await import("./outcome.ts");
  const exitCode = exitCodeOfReason(rejection.reason);
  const remedy = remedyFor(rejection, reasons);
  return {
    kind: exitCode === ExitCode.unreachable ? "unreachable" : "refused",
    exitCode,
    message: rejection.message,
    details: [...problemsOf(rejection), ...namesOf(rejection), ...remedy],
    json: { rejection: messageJson(RejectionSchema, rejection) },
  };
}

/** Problems that the message itself does not tell. */
function problemsOf({ problems, message }: Rejection): readonly string[] {
  return problems
    .filter((problem) => !message.includes(problem.message))
    .map((problem) => problemLine(problem));
}

function remedyFor(
  { reason, problems, runId }: Rejection,
  reasons: typeof Reason,
): readonly string[] {
  switch (reason) {
    case reasons.VERSION_SKEW:
      return ["run: pi-workflows host restart"];
    case reasons.WORKER_FAILED:
      return ["nothing was started; if the package was replaced, run: pi-workflows host restart"];
    case reasons.WORKFLOW_NOT_FOUND:
      return ["see: pi-workflows workflows"];
    case reasons.WORKFLOW_INVALID:
      return [`check it with: pi-workflows validate ${problems[0]?.file || "FILE"}`];
    case reasons.SOURCE_CHANGED:
      return [
        `pi-workflows resume ${runId || "RUN"} --recorded-source   # run what was recorded`,
        `pi-workflows resume ${runId || "RUN"} --accept-source     # run what is on disk now`,
      ];
    case reasons.EFFECT_AMBIGUOUS:
      return [`see: pi-workflows show ${runId || "RUN"}`];
    default:
      return [];
  }
}

/** "file:line:column: message (place)", as far as it is known. */
export function problemLine({ file, line, column, place, message }: Problem): string {
  const where = [file, line === 0 ? "" : line, line === 0 || column === 0 ? "" : column]
    .filter((part) => part !== "")
    .join(":");
  const ending = place === "" || namesPlace(message, place) ? "" : ` (${safe(place)})`;
  return `${where === "" ? "" : `${safe(where)}: `}${safeLines(message)}${ending}`;
}

/** As a word of its own: `maxSteps` does not name `maxStep`. */
function namesPlace(message: string, place: string): boolean {
  for (let at = message.indexOf(place); at >= 0; at = message.indexOf(place, at + 1)) {
    const around = [message[at - 1] ?? "", message[at + place.length] ?? ""];
    if (!around.some((letter) => /[\w$]/.test(letter))) return true;
  }
  return false;
}

/** Names that the message itself does not tell. */
function namesOf({ names, message }: Rejection): readonly string[] {
  return names.filter((name) => !message.includes(name));
}

/** A file that cannot be read is the user's to mend; everything else is ours. */
function ofMachine(error: unknown): Report {
  const message = error instanceof Error ? error.message : String(error);
  return {
    kind: "internal",
    exitCode: ExitCode.internal,
    message: message === "" ? "it failed without a word" : message,
    details: [],
    json: {},
  };
}
