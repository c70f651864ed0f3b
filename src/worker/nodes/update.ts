import { describeError } from "../../workflow/describe-error.ts";
import { toJson } from "../../workflow/json.ts";

/** An update is a line on a screen; what is longer belongs into an output. */
const UPDATE_MAX = 4_096;

/** An update as text. An odd value is named instead of failing the work that it tells of. */
export function showUpdate(update: unknown): string {
  const text = typeof update === "string" ? update : jsonText(update);
  const shown = text.toWellFormed();
  return shown.length <= UPDATE_MAX ? shown : `${shown.slice(0, UPDATE_MAX).toWellFormed()}…`;
}

function jsonText(update: unknown): string {
  try {
    return JSON.stringify(toJson(update, "update"));
  } catch (thrown) {
    return `[${describeError(thrown).message}]`;
  }
}
