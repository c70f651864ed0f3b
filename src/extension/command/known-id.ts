/** Ids as a person types them: whole, or the end of one that the session shows. */
import type { SessionLink } from "../session-link.ts";

/** A shorter word is more likely meant as a word. */
const END_CHARS_MIN = 4;

/** The id that this is the end of, when there is exactly one; else what was typed. */
export function knownId({ picture }: Pick<SessionLink, "picture">, typed: string): string {
  const end = typed.replace(/^(?:run_|int_)?…/, "");
  if (end.length < END_CHARS_MIN) return typed;
  const { runs = [], ended } = picture ?? {};
  const ids = [...runs, ...(ended === undefined ? [] : [ended])]
    .flatMap(({ summary }) => [summary?.runId ?? "", summary?.interactionId ?? ""])
    .filter((id) => id.endsWith(end));
  return ids.length === 1 ? (ids[0] ?? typed) : typed;
}

/** An id that is short enough for a line, and still told from others by its end. */
export function shortId(id: string): string {
  const [, kind = "", end = ""] = /^(\w{3}_)\w+(\w{8})$/.exec(id) ?? [];
  return end === "" ? id : `${kind}…${end}`;
}
