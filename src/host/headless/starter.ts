/** Starts the Pi of a headless run, or says why there is none. */
import { statSync } from "node:fs";
import { newId } from "../../platform/ids.ts";
import { packageRoot } from "../../platform/package-info.ts";
import { findPi } from "../../platform/pi-program.ts";
import { SESSION_SECRET_VARIABLE } from "../../platform/session-secret.ts";
import type { Settings } from "../../platform/settings.ts";
import { agentDir } from "../../platform/state-folder.ts";
import type { StatePaths } from "../../platform/state-folder.ts";
import type { HostContext } from "../context.ts";
import { headlessSession } from "../operations/headless-session.ts";
import type { ModelRecord } from "../records-sessions.ts";
import type { SessionHub } from "../sessions/hub.ts";
import { launchEnvironment } from "../supervisor/launch.ts";
import { PiProcess } from "../supervisor/pi-process.ts";
import type { PiSpec } from "../supervisor/pi-process.ts";
import { ProcessTree } from "../supervisor/process-tree.ts";
import { argumentProblem, piArguments } from "./pi-arguments.ts";
import { configuredCopy, defaultModel } from "./pi-settings.ts";
import { modelKey } from "./run-facts.ts";
import type { Seat, SeatedPi } from "./seat.ts";
import { sessionFolder } from "./session-folders.ts";
import type { StartFault } from "./unavailable.ts";

export interface StarterOptions {
  readonly host: HostContext;
  readonly sessions: Pick<SessionHub, "headlessSecrets">;
  /** Names the state folder in environments. */
  readonly storeTag: string;
  readonly paths: Pick<StatePaths, "folder" | "piSessionsDir">;
  readonly settings: Pick<Settings, "headlessPis" | "piCommand">;
}

export type Started =
  | { readonly pi: SeatedPi; readonly fault?: never }
  | { readonly fault: StartFault };

export class PiStarter {
  readonly #options: StarterOptions;
  readonly #tree: ProcessTree;
  /** Pi's own folder. */
  readonly #agentDir = agentDir();

  constructor(options: StarterOptions) {
    this.#options = options;
    const { clock, log } = options.host;
    this.#tree = new ProcessTree({ clock, log, storeTag: options.storeTag });
  }

  /** Never throws: what the system refuses is a start that came to nothing. */
  start(seat: Seat, events: Events): Started {
    const secret = this.#options.sessions.headlessSecrets.issue(seat.runId);
    try {
      const started = this.#start(seat, secret, events);
      if (started.fault !== undefined) this.#options.sessions.headlessSecrets.revoke(secret);
      return started;
    } catch (error) {
      this.#options.sessions.headlessSecrets.revoke(secret);
      const message = `Pi could not be started: ${(error as Error).message}`;
      return { fault: { message, final: false } };
    }
  }

  #start(seat: Seat, secret: string, events: Events): Started {
    const { host, settings } = this.#options;
    const { runId, facts } = seat;
    const model = facts.ask?.model;
    const problem = argumentProblem(model);
    if (problem !== undefined) return { fault: { message: problem, final: true } };
    const cwd = host.store.reader.runs.get(runId)?.projectDir ?? "";
    if (!isFolder(cwd)) {
      const message = `the run's project folder ${cwd} is not there; put it back and resume or restart the run`;
      return { fault: { message, final: false } };
    }
    const program = findPi({ piCommand: settings.piCommand });
    if (program.problem !== undefined) return { fault: { message: program.problem, final: false } };
    const places = { agentDir: this.#agentDir, projectDir: cwd };
    const withExtension = seat.giveExtension ?? configuredCopy(places) === undefined;
    const args = this.#arguments(runId, { withExtension, model, places });
    const id = newId("hpi");
    const process = new PiProcess({
      ...events,
      clock: host.clock,
      log: host.log,
      tree: this.#tree,
      id,
      command: [...program.command, ...args],
      cwd,
      environment: this.#environment(id, secret),
    });
    const now = host.clock.monotonic();
    const pi: SeatedPi = {
      process,
      secret,
      model: modelKey(model),
      withExtension,
      ending: false,
      deafSince: now,
      attachedAt: now,
      served: false,
      fault: undefined,
    };
    return { pi };
  }

  #arguments(runId: string, how: Launch): readonly string[] {
    const { path: sessionDir, isNew } = sessionFolder(this.#options.paths.piSessionsDir, runId);
    const ownChoice = isNew ? undefined : defaultModel(how.places);
    return piArguments({
      sessionId: headlessSession(runId),
      sessionDir,
      extension: how.withExtension ? packageRoot() : undefined,
      model: modelKey(how.model) === "" ? ownChoice : how.model,
    });
  }

  /** The host's own, which is its caller's, with the folders that both must agree about. */
  #environment(id: string, secret: string): Record<string, string> {
    const { storeTag, host, paths } = this.#options;
    return {
      ...launchEnvironment(`${storeTag}.${host.epoch}.${id}`),
      PI_WORKFLOWS_HOME: paths.folder,
      PI_CODING_AGENT_DIR: this.#agentDir,
      [SESSION_SECRET_VARIABLE]: secret,
    };
  }
}

type Events = Pick<PiSpec, "onNews" | "onEnd">;

interface Launch {
  readonly withExtension: boolean;
  readonly model: ModelRecord | undefined;
  readonly places: { readonly agentDir: string; readonly projectDir: string };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
