/** Where a user's state lives, and whether that place is fit to hold it. */
import { existsSync, lstatSync, mkdirSync, realpathSync, statfsSync } from "node:fs";
import type { Stats } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { sha256Hex } from "./ids.ts";

export interface StatePaths {
  /** The state folder: absolute, with symbolic links resolved. */
  readonly folder: string;
  readonly database: string;
  readonly lock: string;
  readonly hostFile: string;
  /** The right to answer human decisions, for terminals. */
  readonly personKey: string;
  readonly log: string;
  /** The socket; in the folder, or in a short runtime folder when that path would be too long. */
  readonly socket: string;
  /** Transformed sources. */
  readonly cacheDir: string;
  /** Output of workers. */
  readonly workersDir: string;
  /** Sessions of the Pi processes that the host starts, a folder for each run. */
  readonly piSessionsDir: string;
}

type Environment = Readonly<NodeJS.ProcessEnv>;

/** A folder that must not hold state as it is; the message names the remedy. */
export class StateFolderError extends Error {
  override readonly name = "StateFolderError";
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path} ${problem}`);
    this.path = path;
  }
}

/** Longest socket path in bytes; the kernel silently cuts what is longer. */
export const SOCKET_PATH_BYTES_MAX = process.platform === "linux" ? 107 : 103;

/** Magic numbers of file systems whose locks SQLite must not rely on. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB2",
  0x01021997: "9P",
  0x5346414f: "AFS",
  0x00c36400: "Ceph",
  0x0bd00bd0: "Lustre",
};

/** Pi's own folder: `$PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
export function agentDir(env: Environment = process.env): string {
  return fromVariable(env, "PI_CODING_AGENT_DIR") ?? join(home(env), ".pi", "agent");
}

/** All paths below `$PI_WORKFLOWS_HOME`, else `workflows` in Pi's folder. Creates nothing. */
export function statePaths(env: Environment = process.env): StatePaths {
  const wanted = fromVariable(env, "PI_WORKFLOWS_HOME") ?? join(agentDir(env), "workflows");
  const folder = resolveLinks(wanted);
  return {
    folder,
    database: join(folder, "host.db"),
    lock: join(folder, "host.lock"),
    hostFile: join(folder, "host.json"),
    personKey: join(folder, "person.key"),
    log: join(folder, "host.log"),
    socket: socketPath(folder, env),
    cacheDir: join(folder, "cache"),
    workersDir: join(folder, "workers"),
    piSessionsDir: join(folder, "pi-sessions"),
  };
}

/**
 * Creates what is missing, all for the owner alone, and refuses what others
 * could read, write or replace. From now on this process creates only files
 * that are its user's own.
 */
export function prepareStateFolder(paths: StatePaths): void {
  process.umask(0o077);
  ensureStateFolder(paths.folder);
  const others = [dirname(paths.socket), paths.cacheDir, paths.workersDir, paths.piSessionsDir];
  for (const folder of others) ensurePrivateFolder(folder);
}

/** Creates the state folder where it is missing; throws when it is not fit, or cannot be made. */
export function ensureStateFolder(folder: string): void {
  ensurePrivateFolder(folder);
  refuseNetworkFileSystem(folder);
}

/** Throws unless the folder is a real one of this user that nobody else can enter. */
export function checkPrivateFolder(folder: string): void {
  const stats = inspect(folder);
  if (!stats.isDirectory()) {
    throw new StateFolderError(folder, "is not a folder; move it away or choose another place");
  }
  const uid = process.getuid?.();
  if (uid !== undefined && stats.uid !== uid) {
    const remedy = `run: sudo chown ${uid} '${folder}'`;
    throw new StateFolderError(folder, `belongs to user ${stats.uid}, not to ${uid}; ${remedy}`);
  }
  // Windows tells no modes.
  if (uid !== undefined && (stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    const problem = `can be used by others (mode ${mode}); run: chmod 700 '${folder}'`;
    throw new StateFolderError(folder, problem);
  }
}

function ensurePrivateFolder(folder: string): void {
  for (const missing of missingFolders(folder)) createFolder(missing, folder);
  checkPrivateFolder(folder);
}

/** The folder and those above it that do not exist, the outermost first. */
function missingFolders(folder: string): readonly string[] {
  if (existsSync(folder) || dirname(folder) === folder) return [];
  return [...missingFolders(dirname(folder)), folder];
}

/**
 * One level only. Node's own `recursive` never returns where a file system has the
 * parent and still says ENOENT, as /proc does.
 */
function createFolder(missing: string, folder: string): void {
  try {
    mkdirSync(missing, { mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Another process was faster; what it made is looked at like our own.
    if (code === "EEXIST") return;
    const remedy = "set PI_WORKFLOWS_HOME to a folder that can be created";
    throw new StateFolderError(folder, `cannot be created: ${message}; ${remedy}`);
  }
}

function inspect(folder: string): Stats {
  try {
    return lstatSync(folder);
  } catch (error) {
    throw new StateFolderError(folder, `cannot be read: ${(error as Error).message}`);
  }
}

function refuseNetworkFileSystem(folder: string): void {
  const kind = NETWORK_FILE_SYSTEMS[statfsSync(folder).type >>> 0];
  if (kind === undefined) return;
  const remedy = "set PI_WORKFLOWS_HOME to a folder on a local disk";
  throw new StateFolderError(folder, `is on a network file system (${kind}); ${remedy}`);
}

function socketPath(folder: string, env: Environment): string {
  const uid = process.getuid?.() ?? 0;
  const short = join(`pi-workflows-${uid}`, `${sha256Hex(folder).slice(0, 16)}.sock`);
  const candidates = [
    join(folder, "host.sock"),
    ...[fromVariable(env, "XDG_RUNTIME_DIR"), tmpdir(), "/tmp"]
      .filter((place) => place !== undefined)
      .map((place) => join(place, short)),
  ];
  const fitting = candidates.find((path) => Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX);
  if (fitting !== undefined) return fitting;
  const problem = `leaves no room for a socket path of ${SOCKET_PATH_BYTES_MAX} bytes; set TMPDIR`;
  throw new StateFolderError(folder, problem);
}

function fromVariable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value === "" ? undefined : resolve(expandHome(value, env));
}

/** Variables set in configuration files are not seen by a shell, so `~` reaches us as it is. */
function expandHome(path: string, env: Environment): string {
  return path === "~" || path.startsWith("~/") ? join(home(env), path.slice(1)) : path;
}

function home(env: Environment): string {
  const value = env["HOME"];
  return value === undefined || value === "" ? homedir() : resolve(value);
}

/** Resolves links in the part of the path that exists, so that two names of one folder agree. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(resolveLinks(parent), basename(path));
  }
}
