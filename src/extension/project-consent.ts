/**
 * Whether the model may start what lies in the project. Pi asks for trust only
 * where it finds settings, extensions or skills of a project, and calls every other
 * project trusted; a workflow file is code all the same.
 */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { storedTrust } from "../platform/pi-trust.ts";
import { agentDir } from "../platform/state-folder.ts";
import { safe } from "../platform/text.ts";
import { isInProject } from "../platform/workflow-files.ts";
import type { SessionLink } from "./session-link.ts";

interface Place {
  readonly cwd: string;
  readonly ui: Pick<ExtensionContext["ui"], "confirm">;
}

interface Start {
  readonly workflow: string;
  readonly place: Place;
  readonly signal: AbortSignal | undefined;
}

/** The user did not let the model run the project's code. */
export class ConsentError extends Error {
  override readonly name = "ConsentError";

  constructor(workflow: string) {
    super(
      `${workflow} was not started: it is code of this project, and the user has not allowed you to ` +
        "start workflows of this project in this session. Do not try again and do not copy the file. " +
        `The user can type /workflow start ${workflow}, or trust the project with /trust.`,
    );
  }
}

/** What the user has said, by the session. */
const answers = new WeakMap<SessionLink, Promise<boolean>>();

/** Asks the user once in a session; throws where the answer is no. */
export async function requireConsent(link: SessionLink, start: Start): Promise<void> {
  const { workflow, place, signal } = start;
  if (!isInProject(workflow, place.cwd) || storedTrust(place.cwd, agentDir()) === true) return;
  const answer = answers.get(link) ?? ask(start);
  answers.set(link, answer);
  const isAllowed = await answer.catch(() => false);
  // A turn that was stopped closes the dialog, which is no answer of the user.
  if (!isAllowed && signal?.aborted === true) answers.delete(link);
  if (!isAllowed) throw new ConsentError(workflow);
}

async function ask({ workflow, place, signal }: Start): Promise<boolean> {
  const message =
    `The model wants to start "${safe(workflow)}" of ${safe(place.cwd)}. A workflow is code that runs ` +
    "as you. Your answer holds for this session; /trust keeps one for the project.";
  const options = signal === undefined ? {} : { signal };
  return await place.ui.confirm("Run workflows of this project?", message, options);
}
