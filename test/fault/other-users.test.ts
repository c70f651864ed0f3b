// One user's state is nobody else's: another user of the machine can neither read, write, connect
// nor signal. Becoming another user takes the administrator; without that the test is skipped.
import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { sha256Hex } from "../../src/platform/ids.ts";
import { taggedProcesses } from "../../src/platform/process-identity.ts";
import { startLingering } from "../support/lingering-run.ts";
import { startRealHost } from "../support/real-host.ts";
import type { RealHost } from "../support/real-host.ts";

/** "nobody", on every system that has one. */
const STRANGER = { uid: 65_534, gid: 65_534 };
const SCRIPT = readFileSync(join(import.meta.dirname, "../fixtures/children/stranger.ts"), "utf8");

const AS_TEXT = ["--input-type=module-typescript", "-e"];

/** Whether this process may become another user who can run this Node.js. */
function canBecomeAnother(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  return spawnSync(process.execPath, ["-e", "0"], { ...STRANGER, cwd: "/" }).status === 0;
}

describe.skipIf(!canBecomeAnother())(
  "another user (needs the administrator's right to become one)",
  () => {
    test("can do nothing with files, socket and processes of a host", async () => {
      const host = await workingHost();
      expect(await managed(host, STRANGER)).toEqual([]);
    });

    test("is kept out of every file by the file's own mode, also in a folder that is open", async () => {
      const host = await workingHost();
      const folders = entries(host).filter((path) => statSync(path).isDirectory());
      for (const folder of [host.paths.folder, ...folders]) chmodSync(folder, 0o755);
      const done = await managed(host, STRANGER);
      // A folder may be listed then; nothing in it may be used.
      expect(done).toEqual([`list ${host.paths.folder}`, ...folders.map((path) => `read ${path}`)]);
    });

    test("is refused what the user's own processes may do", async () => {
      const host = await workingHost();
      const done = await managed(host, {});
      const { folder, database, socket, personKey } = host.paths;
      expect(done).toEqual(
        expect.arrayContaining([
          `list ${folder}`,
          `read ${database}`,
          `write ${database}`,
          `read ${personKey}`,
          `connect ${socket}`,
          `signal ${host.pid}`,
          `environ of ${host.pid}`,
        ]),
      );
    });
  },
);

/** A host with every kind of file and process, in a place that others may walk to. */
async function workingHost(): Promise<RealHost> {
  const place = mkdtempSync(join(tmpdir(), "o-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  for (const folder of [tmpdir(), place]) chmodSync(folder, 0o755);
  onTestFinished(() => chmodSync(tmpdir(), 0o700));
  const folder = join(place, "state");
  mkdirSync(folder, { mode: 0o700 });
  const host = await startRealHost({ folder });
  await startLingering(host);
  await host.host.backup({ path: join(folder, "copy.db") });
  const names = entries(host).map((path) => path.slice(folder.length + 1));
  expect(names).toEqual(
    expect.arrayContaining(["copy.db", "host.db", "host.db-wal", "host.db-shm", "host.json"]),
  );
  expect(names).toEqual(
    expect.arrayContaining(["host.lock", "host.log", "host.sock", "person.key", "workers"]),
  );
  return host;
}

/** What a process of that user manages to do. */
async function managed({ paths }: RealHost, user: Partial<typeof STRANGER>): Promise<string[]> {
  const { folder, socket } = paths;
  const files = entries({ paths });
  const pids = taggedPids(folder);
  expect(pids.length).toBeGreaterThan(0);
  const host = (JSON.parse(readFileSync(paths.hostFile, "utf8")) as { readonly pid: number }).pid;
  const given = JSON.stringify({ folder, files, socket, pids: [host, ...pids] });
  const child = await promisify(execFile)(process.execPath, [...AS_TEXT, SCRIPT, given], {
    ...user,
    cwd: "/",
    env: {},
  });
  // Printed by the script itself.
  return JSON.parse(child.stdout) as string[];
}

function entries({ paths }: Pick<RealHost, "paths">): readonly string[] {
  const found = readdirSync(paths.folder, { recursive: true, withFileTypes: true });
  return found.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
}

function taggedPids(folder: string): readonly number[] {
  return taggedProcesses(sha256Hex(folder).slice(0, 16)).map(({ pid }) => pid);
}
