/** What can be looked at without a host: the things that keep one from starting. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { failureLine } from "../../client/host-error.ts";
import { packageRoot } from "../../platform/package-info.ts";
import { findPi } from "../../platform/pi-program.ts";
import { readSettings } from "../../platform/settings.ts";
import {
  checkPrivateFolder,
  ensureStateFolder,
  SOCKET_PATH_BYTES_MAX,
} from "../../platform/state-folder.ts";
import type { StatePaths } from "../../platform/state-folder.ts";

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was found, or what is wrong and what to do. */
  readonly detail: string;
}

/** The oldest Node.js that works, as bin/pi-workflows.cjs refuses older ones. */
const NODE_MIN: readonly number[] = [22, 19, 0];
const DRIVER_MS_MAX = 20_000;
/** Run in a process of its own: a driver built for another Node.js can end the process that loads it. */
const LOAD_DRIVER =
  'const Database = require("better-sqlite3"); const db = new Database(":memory:");' +
  'console.log(db.prepare("select sqlite_version()").pluck().get()); db.close();';

export function localChecks(findPaths: () => StatePaths): readonly Check[] {
  const place = check("state folder", () => {
    const { folder } = findPaths();
    // Whether one that is missing can be created is known when it was: the host needs it next.
    ensureStateFolder(folder);
    return folder;
  });
  if (!place.ok) return [nodeVersion(), driver(), place];
  const paths = findPaths();
  return [
    nodeVersion(),
    driver(),
    place,
    check("socket", () => describeSocket(paths)),
    check("settings", () => {
      readSettings(paths.folder);
      return "can be read";
    }),
    check("Pi", () => describePi(paths)),
  ];
}

/** Only headless runs need one, so that there is none is no fault; one that does not work is. */
function describePi({ folder }: StatePaths): string {
  const piCommand = piCommandOf(folder);
  const found = findPi({ piCommand });
  if (found.problem === undefined) return `${found.version ?? "unknown version"} (${found.path})`;
  if (found.kind === "unfit" || piCommand !== "") throw new Error(found.problem);
  return `none, which headless runs need for their model steps. ${found.problem}`;
}

/** Settings that cannot be read have a check of their own. */
function piCommandOf(folder: string): string {
  try {
    return readSettings(folder).piCommand;
  } catch {
    return "";
  }
}

function nodeVersion(): Check {
  const have = process.versions.node.split(".").map(Number);
  const index = NODE_MIN.findIndex((number, place) => have[place] !== number);
  const ok = index < 0 || (have[index] ?? 0) > (NODE_MIN[index] ?? 0);
  const detail = `${process.version} (${process.execPath})`;
  return {
    name: "Node.js",
    ok,
    detail: ok ? detail : `${detail} is older than ${NODE_MIN.join(".")}`,
  };
}

function driver(): Check {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["-e", LOAD_DRIVER], {
    cwd: packageRoot(),
    encoding: "utf8",
    timeout: DRIVER_MS_MAX,
  });
  if (status === 0) return { name: "database driver", ok: true, detail: `SQLite ${stdout.trim()}` };
  const how = signal === null ? `exit code ${status}` : `ended by ${signal}`;
  const reason =
    failureLine(stderr) ?? `it cannot be loaded (${how}). Run: npm rebuild better-sqlite3`;
  return { name: "database driver", ok: false, detail: reason };
}

function describeSocket({ socket }: StatePaths): string {
  const folder = dirname(socket);
  if (existsSync(folder)) checkPrivateFolder(folder);
  return `${socket} (${Buffer.byteLength(socket)} of ${SOCKET_PATH_BYTES_MAX} bytes)`;
}

function check(name: string, look: () => string): Check {
  try {
    return { name, ok: true, detail: look() };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message };
  }
}
