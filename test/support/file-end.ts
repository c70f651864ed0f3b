/**
 * What several tests of a file share ends with the file. Test files share their process, and with
 * it what a module remembers: a hook that a module registers would be registered for the first
 * file only.
 */
type End = () => Promise<void> | void;

let ends: End[] = [];

/** Registers what must end once the tests of this file have; callable from within a test. */
export function onFileFinished(end: End): void {
  ends.push(end);
}

/** Ends all that is registered, the newest first. */
export async function finishFile(): Promise<void> {
  const due = ends.toReversed();
  ends = [];
  for (const end of due) await end();
}
