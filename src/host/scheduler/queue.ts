import type { RunRecord } from "../records.ts";
import type { Reader } from "../store/tx.ts";
import { selectNext } from "./select.ts";
import type { TakenPlace } from "./select.ts";

/** More than there can be places, so that a page is never full of runs that have one. */
const PAGE = 128;
/** So many floods of other projects are looked past before one of them gets the place. */
const PAGES_MAX = 8;

/** The queued run whose submission was waiting longest. */
export function nextValidation(
  reader: Pick<Reader, "runs">,
  taken: readonly TakenPlace[],
): RunRecord | undefined {
  const busy = new Set(taken.map(({ runId }) => runId));
  return reader.runs.queuedValidations(PAGE).find(({ runId }) => !busy.has(runId));
}

/**
 * The due run that gets the next place. Where one project fills the queue, the
 * others are looked for behind it.
 */
export function nextQueued(
  reader: Pick<Reader, "runs">,
  now: number,
  taken: readonly TakenPlace[],
): RunRecord | undefined {
  const seen: RunRecord[] = [];
  let page = reader.runs.queued(now, PAGE);
  for (let pages = 1; ; pages += 1) {
    seen.push(...page);
    const best = selectNext(seen, taken);
    const isIdle =
      best !== undefined && !taken.some(({ projectDir }) => projectDir === best.projectDir);
    if (page.length < PAGE || isIdle || pages === PAGES_MAX) return best;
    const projects = [...new Set(seen.map(({ projectDir }) => projectDir))];
    page = reader.runs.queuedElsewhere(now, projects, PAGE);
  }
}
