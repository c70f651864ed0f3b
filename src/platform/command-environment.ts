/** The environment of the commands that a workflow runs. */
import { TAG_VARIABLE } from "./process-identity.ts";

/**
 * This process's environment with changes, where `undefined` removes a variable.
 * The tag stays whatever the changes say: by it every process of a run is found
 * and ended.
 */
export function commandEnvironment(
  changes: Readonly<Record<string, string | undefined>>,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Record<string, string> {
  const merged = { ...env, ...changes, [TAG_VARIABLE]: env[TAG_VARIABLE] };
  const kept = Object.entries(merged).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(kept);
}
