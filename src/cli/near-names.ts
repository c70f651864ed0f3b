/** What somebody may have meant who typed a name that is not there. */

/** Names that begin alike or are one slip of a finger away. */
export function nearNames(given: string, names: readonly string[]): readonly string[] {
  if (given.length < 2) return [];
  return names.filter((name) => name.startsWith(given.slice(0, 3)) || isOneLetterOff(given, name));
}

/** "; did you mean list?", or nothing. */
export function didYouMean(near: readonly string[]): string {
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
}

/** One letter added, missing, changed, or two neighbours swapped. */
function isOneLetterOff(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  const rest = [left.slice(start), right.slice(start)] as const;
  const swapped = `${rest[0][1] ?? ""}${rest[0][0] ?? ""}${rest[0].slice(2)}`;
  return (
    rest[0].slice(1) === rest[1].slice(1) ||
    rest[0].slice(1) === rest[1] ||
    rest[0] === rest[1].slice(1) ||
    swapped === rest[1]
  );
}
