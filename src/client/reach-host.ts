/** From "there may be a host" to a connected socket. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { Clock } from "../platform/clock.ts";
import { random } from "../platform/ids.ts";
import { stateOf } from "../platform/process-identity.ts";
import type { StatePaths } from "../platform/state-folder.ts";
import { HostUnreachableError } from "./host-error.ts";
import { livingHost, readHostFile } from "./host-file.ts";
import { startHost } from "./start-host.ts";
import type { HostExit, HostStart } from "./start-host.ts";

export interface ReachOptions {
  readonly paths: StatePaths;
  /** Whether to start a host when none answers. */
  readonly startHost: boolean;
  /** Path of the host's program. */
  readonly hostEntry: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Told once when a host is being started. */
  readonly onStart: (() => void) | undefined;
  /** How long a host may take from its start until it listens; more than the usual budget. */
  readonly startMs: number;
}

export interface Reached {
  readonly socketPath: string;
  readonly socket: Socket;
}

const FIRST_PAUSE_MS = 5;
const PAUSE_MS_MAX = 100;
/** A host that found the lock taken ended well; the owner gets this time before the next try. */
const RESTART_PAUSE_MS = 250;
const RESTART_PAUSE_MS_MAX = 2_000;
/** A full backlog: there is a host, and it is busy. */
const BUSY = new Set(["EAGAIN", "ECONNRESET", "EPIPE"]);
/** No host listens: no file, a file that nobody serves, or no folder. */
const ABSENT = new Set(["ENOENT", "ECONNREFUSED", "ENOTDIR"]);

/**
 * Connects to the host, starting one if that is wanted and none answers, until
 * `deadline` on the clock's monotonic time, or longer while one is coming up on a
 * busy machine. Many callers at once may each start one: the lock lets one of them
 * live, and all connect to it.
 */
export async function reachHost(options: ReachOptions, deadline: number): Promise<Reached> {
  const starter = options.startHost ? new Starter(options) : undefined;
  try {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, PAUSE_MS_MAX)) {
      options.signal?.throwIfAborted();
      const found = await probe(options.paths);
      if (typeof found !== "string") return found;
      if (!BUSY.has(found)) starter?.failIfFailed();
      if (ABSENT.has(found)) absent(options, starter);
      if (options.clock.monotonic() >= deadline) giveUpUnlessComing(options.paths, found, starter);
      await sleep(options.clock, pause * (0.75 + random() / 2));
    }
  } finally {
    starter?.release();
  }
}

/** Waits without keeping the process alive. */
export async function sleep(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(ms, resolve);
  });
}

/** Says whether the host is there but does not run, as after SIGSTOP. */
export function frozenHost(paths: StatePaths): HostUnreachableError | undefined {
  const host = livingHost(paths);
  if (host === undefined || stateOf(host.pid) !== "T") return undefined;
  const remedy = `run: kill -CONT ${host.pid}`;
  return new HostUnreachableError(
    "no_answer",
    `the host (pid ${host.pid}) is stopped and does not answer; ${remedy}`,
    paths.log,
  );
}

function absent(options: ReachOptions, starter: Starter | undefined): void {
  if (starter === undefined) {
    throw new HostUnreachableError("absent", "no host is running", options.paths.log);
  }
  starter.startIfDue();
}

/** Starts hosts, one at a time and with growing pauses. */
class Starter {
  readonly #options: ReachOptions;
  #running: HostStart | undefined;
  #exit: HostExit | undefined;
  #notBefore = 0;
  #firstAt: number | undefined;
  #pause = RESTART_PAUSE_MS;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  startIfDue(): void {
    const { clock, hostEntry, paths, onStart } = this.#options;
    if (this.#running !== undefined || clock.monotonic() < this.#notBefore) return;
    this.#firstAt ??= clock.monotonic();
    if (this.#exit === undefined) onStart?.();
    const started = startHost(hostEntry, paths);
    this.#running = started;
    void this.#remember(started);
  }

  async #remember(started: HostStart): Promise<void> {
    this.#exit = await started.exit;
    this.#running = undefined;
    this.#notBefore = this.#options.clock.monotonic() + this.#pause;
    this.#pause = Math.min(this.#pause * 2, RESTART_PAUSE_MS_MAX);
  }

  /** A host lives that does not listen yet: the one started here, or the one that has the lock. */
  isComing(): boolean {
    const { clock, startMs } = this.#options;
    if (this.#firstAt === undefined || clock.monotonic() - this.#firstAt >= startMs) return false;
    return this.#running !== undefined || this.#exit?.ok === true;
  }

  /** Ends the host that was started here and listens nowhere; returns its process id. */
  endSilent(): number | undefined {
    const pid = this.#running?.pid;
    if (pid === undefined || livingHost(this.#options.paths)?.pid === pid) return undefined;
    this.#running?.kill();
    return pid;
  }

  /** A host that cannot start now will not start by being asked again. */
  failIfFailed(): void {
    if (this.#exit === undefined || this.#exit.ok) return;
    throw new HostUnreachableError(
      "start_failed",
      `the host could not be started: ${this.#exit.reason}`,
      this.#options.paths.log,
    );
  }

  release(): void {
    this.#running?.release();
  }
}

/** A connected socket, or the code of the error that says why there is none. */
async function probe(paths: StatePaths): Promise<Reached | string> {
  // A host that had another idea of the runtime folder says in its file where it listens.
  const places = new Set([readHostFile(paths)?.socket ?? paths.socket, paths.socket]);
  let code = "ENOENT";
  for (const socketPath of places) {
    const result = await tryConnect(socketPath);
    if (typeof result !== "string") return { socketPath, socket: result };
    code = result;
    refuseDenied(paths, socketPath, code);
  }
  return code;
}

async function tryConnect(socketPath: string): Promise<Socket | string> {
  return await new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      // Until HTTP/2 takes it over, an error must not end the process.
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

function refuseDenied(paths: StatePaths, socketPath: string, code: string): void {
  if (ABSENT.has(code) || BUSY.has(code)) return;
  const remedy =
    code === "EACCES" || code === "EPERM"
      ? "it belongs to another user; set PI_WORKFLOWS_HOME to a folder of your own"
      : "move what is there away";
  throw new HostUnreachableError(
    "denied",
    `the host's socket ${socketPath} cannot be opened (${code}); ${remedy}`,
    paths.log,
  );
}

function giveUpUnlessComing(paths: StatePaths, code: string, starter: Starter | undefined): void {
  if (starter?.isComing() === true) return;
  const ended = ABSENT.has(code) ? starter?.endSilent() : undefined;
  const host = livingHost(paths);
  let what = "no host came to listen in time";
  if (ended !== undefined) what = `the host (pid ${ended}) did not come to listen and was ended`;
  else if (host !== undefined) what = `the host (pid ${host.pid}) does not take connections`;
  throw new HostUnreachableError("no_answer", `${what} (${code})`, paths.log);
}
