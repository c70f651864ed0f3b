import { PAGE_MAX } from "../limits.ts";
import type { Reader } from "../store/tx.ts";

/** Headless runs with an open request, or whose Pi was attached when the host before ended. */
export function openHeadlessRuns(reader: Reader): readonly string[] {
  const found = new Set<string>();
  for (const { headlessRun } of reader.sessions.attached()) {
    if (headlessRun !== undefined) found.add(headlessRun);
  }
  let after: string | undefined;
  for (;;) {
    const filter = { includeClosed: false, limit: PAGE_MAX };
    const page = reader.interactions.page(after === undefined ? filter : { ...filter, after });
    for (const { runId } of page) {
      if (reader.runs.get(runId)?.mode === "headless") found.add(runId);
    }
    after = page.at(-1)?.interactionId;
    if (page.length < PAGE_MAX) return [...found];
  }
}
