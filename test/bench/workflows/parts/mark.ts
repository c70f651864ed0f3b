import { appendFileSync } from "node:fs";

/** Writes down when something happened, on the clock that all processes of a machine share. */
export function mark(file: string, what: string): void {
  appendFileSync(file, `${process.hrtime.bigint()} ${what}\n`);
}
