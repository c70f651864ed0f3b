/** The environment that long-lived processes are started with. */
import { TAG_VARIABLE } from "./process-identity.ts";

/** Variables that belong to whoever started us and would change what a child of ours does. */
const FOREIGN = new Set([
  TAG_VARIABLE,
  "NODE_OPTIONS",
  "NODE_V8_COVERAGE",
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "NODE_UNIQUE_ID",
]);

/**
 * A copy of the environment without the tag of a worker, without what steers
 * Node.js itself and without npm's own variables. A host started from within a
 * run, a debugger or an npm script is then the same host as any other.
 */
export function cleanedEnvironment(
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !FOREIGN.has(entry[0]) && !/^npm_/i.test(entry[0]),
  );
  return Object.fromEntries(kept);
}
