/** How the program ends. The same in text and JSON mode; docs/cli.md lists them. */

export const ExitCode = {
  success: 0,
  /** A fault of the program itself. */
  internal: 1,
  /** A wrong command line, or a workflow file with problems. */
  usage: 2,
  /** The host refused what was asked. */
  refused: 3,
  notFound: 4,
  /** No host answers, none can be started, or it is of another version. */
  unreachable: 5,
  runFailed: 10,
  runCancelled: 11,
  runTimedOut: 12,
  runNeedsAnswer: 13,
  runBlocked: 14,
  runPaused: 15,
  /** `watch` or `start --wait` ended before the run: Ctrl-C, `--timeout`, or the host was stopped. */
  stillRunning: 16,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
