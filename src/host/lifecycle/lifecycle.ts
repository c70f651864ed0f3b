import { HostError } from "../errors.ts";

/** For each status the events that may happen in it, and the status that follows. */
export type LifecycleTable<Status extends string, Event extends string> = {
  readonly [From in Status]: { readonly [On in Event]?: readonly Status[] };
};

/** A noun's whole life as data. Nothing else sets a status. */
export interface Lifecycle<Status extends string, Event extends string> {
  readonly noun: string;
  readonly table: LifecycleTable<Status, Event>;
  readonly statuses: readonly Status[];
  /** True when no event leaves the status. */
  readonly isFinal: (status: Status) => boolean;
  readonly allows: (from: Status, event: Event) => boolean;
  /**
   * The status after an event. Where the table names several, `to` chooses one.
   * Refuses with ILLEGAL_TRANSITION whatever the table does not hold.
   */
  readonly next: (from: Status, event: Event, to?: Status) => Status;
}

export function defineLifecycle<Status extends string, Event extends string>(
  noun: string,
  table: LifecycleTable<Status, Event>,
): Lifecycle<Status, Event> {
  const targets = (from: Status, event: Event): readonly Status[] => table[from][event] ?? [];
  return {
    noun,
    table,
    // The keys of a table typed by its statuses are exactly these.
    statuses: Object.keys(table) as Status[],
    isFinal: (status) => Object.keys(table[status]).length === 0,
    allows: (from, event) => targets(from, event).length > 0,
    next: (from, event, to) => {
      const allowed = targets(from, event);
      const chosen = to ?? (allowed.length === 1 ? allowed[0] : undefined);
      if (chosen !== undefined && allowed.includes(chosen)) return chosen;
      const whither = to === undefined || allowed.length === 0 ? "" : ` to become ${to}`;
      const message = `${statusOf(from, noun)} cannot be ${passive(event)}${whither}`;
      throw new HostError("ILLEGAL_TRANSITION", message, { state: from });
    },
  };
}

/** "a paused run", "an ambiguous effect"; a status that needs more words follows its noun. */
function statusOf(status: string, noun: string): string {
  if (status === "ok") return `${article(noun)} ${noun} that is ok`;
  const words = status.replaceAll("_", "-");
  return `${article(words)} ${words} ${noun}`;
}

function article(word: string): string {
  return /^[aeiou]/.test(word) ? "an" : "a";
}

/** Events that do not form their participle by the rule, or are said in another way. */
const PASSIVES: ReadonlyMap<string, string> = new Map([
  ["attach", "attached to"],
  ["wait", "parked"],
  ["verdict", "decided"],
  ["succeed", "ended as ok"],
  ["fail", "ended as failed"],
  ["time_out", "timed out"],
  ["begin", "begun"],
  ["accept", "answered"],
  ["reject", "sent back"],
  ["submit", "submitted to"],
  ["see", "seen"],
  ["lose", "given up as unknown"],
  ["reopen", "tried again"],
  ["cancel", "cancelled"],
  ["resolve_applied", "resolved as applied"],
  ["resolve_not_applied", "resolved as not applied"],
]);

function passive(event: string): string {
  const told = PASSIVES.get(event);
  if (told !== undefined) return told;
  if (event.endsWith("e")) return `${event}d`;
  return /[^aeiou]y$/.test(event) ? `${event.slice(0, -1)}ied` : `${event}ed`;
}
