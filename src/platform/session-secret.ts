/** How the host tells a Pi that it started that it is a run's own. */

/** Read once and removed: else a Pi that is started inside would pass for the run's. */
export const SESSION_SECRET_VARIABLE = "PI_WORKFLOWS_SESSION_SECRET";

/** The secret this process was started with; empty when there is none, or when it was taken before. */
export function takeSessionSecret(env: NodeJS.ProcessEnv = process.env): string {
  const secret = env[SESSION_SECRET_VARIABLE] ?? "";
  // A variable that is set to undefined would hold that word.
  Reflect.deleteProperty(env, SESSION_SECRET_VARIABLE);
  return secret;
}
