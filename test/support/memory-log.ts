import type { Log, LogFields } from "../../src/platform/log.ts";

export interface LogLine extends LogFields {
  readonly level: "info" | "warn" | "error";
  readonly event: string;
}

/** A log that a test can read. */
export function memoryLog(): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const logWith = (own: LogFields): Log => {
    const at =
      (level: LogLine["level"]) =>
      (event: string, fields: LogFields = {}): void => {
        lines.push({ ...own, ...fields, level, event });
      };
    return {
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => logWith({ ...own, ...fields }),
    };
  };
  return { log: logWith({}), lines };
}
