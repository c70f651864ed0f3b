/** Files of other programs, which may be missing or broken and then say nothing. */
import { readFileSync } from "node:fs";

export function readJsonObject(file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
