/** The environment that processes of ours hand on. */
import { TAG_VARIABLE } from "./process-identity.ts";
import { SESSION_SECRET_VARIABLE } from "./session-secret.ts";

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
  // Pi says so to what it runs for a model; what a host runs is nobody's tool call.
  "AI_AGENT",
  "PI_CODING_AGENT",
  SESSION_SECRET_VARIABLE,
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
