import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../platform/package-info.ts";

/**
 * A stack without the frames of this program and of Node's inside: an author is
 * shown the lines of the workflow, not those of what ran it.
 */
export function withoutOwnFrames(stack: string, root: string = packageRoot()): string {
  const places = ownPlaces(root);
  const isOwn = (line: string): boolean =>
    FRAME.test(line) && places.some((place) => line.includes(place));
  return stack
    .split("\n")
    .filter((line) => !isOwn(line))
    .join("\n");
}

const FRAME = /^\s+at .*:\d+:\d+\)?$/;
/** Programs run from the first, tests from the second. */
const FOLDERS = ["dist", "src"];

function ownPlaces(root: string): readonly string[] {
  const folders = FOLDERS.map((name) => join(root, name) + sep);
  return ["node:internal/", ...folders, ...folders.map((folder) => pathToFileURL(folder).href)];
}
