import { utf8Bytes } from "../workflow/json.ts";
import type { Workflow } from "../workflow/define-workflow.ts";

/** What the host stores of a title, in UTF-8. */
const TITLE_BYTES_MAX = 256;
const CUT = "…";

/**
 * The title of a run, in one line; empty where the workflow's name stands for it.
 * A title is a nicety: a run is not refused for one that cannot be made.
 */
export async function titleOf({ title }: Pick<Workflow, "title">, input: unknown): Promise<string> {
  if (typeof title !== "function") return oneLine(title ?? "");
  try {
    const made: unknown = await title({ input });
    return typeof made === "string" ? oneLine(made) : "";
  } catch {
    return "";
  }
}

function oneLine(title: string): string {
  const line = title
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  if (utf8Bytes(line) <= TITLE_BYTES_MAX) return line;
  let kept = "";
  let bytes = utf8Bytes(CUT);
  for (const letter of line) {
    bytes += utf8Bytes(letter);
    if (bytes > TITLE_BYTES_MAX) break;
    kept += letter;
  }
  return kept + CUT;
}
