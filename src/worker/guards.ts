import { describeError } from "../workflow/describe-error.ts";
import type { ErrorDescription } from "../workflow/describe-error.ts";

/** Thrown where author code asked the process to exit, so that nothing after it runs. */
class ProcessExitCalled extends Error {
  override readonly name = "ProcessExit";
}

/**
 * Turns whatever author code does to end the process into a failure that says so:
 * `process.exit()`, an uncaught exception, an unhandled rejection. `fatal` is
 * called once, with the first of them.
 */
export function installGuards(fatal: (failure: ErrorDescription) => void): void {
  let called = false;
  const once = (failure: ErrorDescription): void => {
    if (called) return;
    called = true;
    fatal(failure);
  };
  process.exit = (code) => {
    const error = new ProcessExitCalled(
      `author code called process.exit(${code ?? ""}); return a value or throw an error instead`,
    );
    once(describeError(error));
    throw error;
  };
  process.on("uncaughtException", (error) => once(named("UncaughtException", error)));
  process.on("unhandledRejection", (reason) => once(named("UnhandledRejection", reason)));
}

function named(name: string, thrown: unknown): ErrorDescription {
  const described = describeError(thrown);
  const what =
    name === "UnhandledRejection"
      ? "a promise was rejected and nobody handled it"
      : "an exception was thrown outside the node";
  return { ...described, name, message: `${what}: ${described.name}: ${described.message}` };
}
