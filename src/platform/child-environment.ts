/** The environment that processes of ours hand on. */
import { TAG_VARIABLE } from "./process-identity.ts";

/**
 * Says which program started us, or how to run that program, and is no
 * business of a process that outlives it.
 */
const DROPPED: ReadonlySet<string> = new Set([
  TAG_VARIABLE,
  "NODE_OPTIONS",
  "NODE_V8_COVERAGE",
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "NODE_UNIQUE_ID",
  "INIT_CWD",
]);

/** The caller's environment without what belongs to its own launcher. */
export function cleanEnvironment(
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || DROPPED.has(name) || /^npm_/i.test(name)) continue;
    kept[name] = value;
  }
  return kept;
}
