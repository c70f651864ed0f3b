/** Why no host could be reached, in one line that says what to do. */

export type UnreachableKind = "absent" | "denied" | "start_failed" | "no_answer";

/** No host can be talked to. The message is complete; the log has more. */
export class HostUnreachableError extends Error {
  override readonly name = "HostUnreachableError";
  readonly kind: UnreachableKind;
  /** Where a host writes its log. */
  readonly logPath: string;

  constructor(kind: UnreachableKind, message: string, logPath: string) {
    super(message);
    this.kind = kind;
    this.logPath = logPath;
  }
}

const ABI = /NODE_MODULE_VERSION (\d+)[\s\S]*?NODE_MODULE_VERSION (\d+)/;
/** What Node.js prints around the one line that matters. */
const NOISE =
  /^\s*(?:at |\^|\}|\{|throw |Node\.js v|node:|\[?(?:code|errno|syscall|path|requireStack)\b)/;

/** The line of a failed process's error output that says why it failed; absent when there is none. */
export function failureLine(output: string): string | undefined {
  const mismatch = abiMismatch(output);
  if (mismatch !== undefined) return mismatch;
  const lines = output
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "" && !NOISE.test(line));
  return lines.findLast((line) => /\b\w*Error\b.*: /.test(line)) ?? lines.at(-1);
}

/** One line for a native module that was built for another Node.js; absent when that is not it. */
export function abiMismatch(output: string): string | undefined {
  const versions = ABI.exec(output);
  if (versions === null) return undefined;
  return (
    `better-sqlite3 was built for another Node.js (ABI ${versions[1]}); this is ` +
    `${process.version} (ABI ${versions[2]}). Run: npm rebuild better-sqlite3`
  );
}
