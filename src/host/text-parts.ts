/** Parts of a text that a model and a person read. */

/** Absent where there is nothing to say. */
export type Part = string | undefined;

export function paragraphs(parts: readonly Part[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

export function list(items: readonly Part[]): string {
  return items
    .filter((item) => item !== undefined)
    .map((item) => `- ${item}`)
    .join("\n");
}

/** A fence that is longer than any in the text, so that the text cannot end it. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

export function pretty(json: string, charsMax: number): string {
  return cut(JSON.stringify(JSON.parse(json) as unknown, undefined, 2), charsMax);
}

export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  // Half of a surrogate pair is no character.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  return `${text.slice(0, end)} … (cut, ${text.length} characters in all)`;
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
