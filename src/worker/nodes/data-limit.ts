import { execFile } from "node:child_process";

/**
 * Gives a command the memory that its user may have. The host bounds its
 * workers (a soft `RLIMIT_DATA`), and a command inherits that bound, which is
 * meant for author code and not for a compiler. Where there is no `prlimit`,
 * there is no bound either.
 */
export function liftDataLimit(pid: number): void {
  if (process.platform !== "linux") return;
  execFile("prlimit", ["--pid", String(pid), "--data=unlimited:"], () => undefined);
}
