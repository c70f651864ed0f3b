/** Which workflow is meant, and whether it may start here. */
import { findWorkflow, isOfProject } from "../platform/workflow-files.ts";

interface Place {
  readonly cwd: string;
  isProjectTrusted(): boolean;
}

/** Files that the project brought along may run only where the user trusts the project. */
export class UntrustedError extends Error {
  override readonly name = "UntrustedError";

  constructor(workflow: string) {
    super(
      `${workflow} belongs to this project, which is not trusted, and was not started. ` +
        "The user trusts the project with /trust and starts Pi again, or starts Pi with --approve.",
    );
  }
}

/**
 * The absolute path of the workflow's file, so that what was checked is what the
 * host loads; what is not found goes to the host as it is, which knows near names.
 */
export function startable(nameOrPath: string, ctx: Place): string {
  if (isOfProject(nameOrPath, ctx.cwd) && !ctx.isProjectTrusted()) {
    throw new UntrustedError(nameOrPath);
  }
  const found = findWorkflow(nameOrPath, ctx.cwd);
  return "path" in found ? found.path : nameOrPath;
}
