/** The end of a text, at most so many bytes in UTF-8 and never half a character. */
export function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  return bytes
    .subarray(bytes.length - limit)
    .toString()
    .replace(/^\uFFFD+/, "");
}
