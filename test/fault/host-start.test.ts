import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { newStateFolder, runHost, startRealHost } from "../support/real-host.ts";

/** Another program that holds a lock on the database until it is told to let go. */
async function lockDatabase(path: string, statement: string): Promise<() => Promise<void>> {
  const script = `
    const Database = require("better-sqlite3");
    const database = new Database(${JSON.stringify(path)});
    database.exec(${JSON.stringify(statement)});
    console.log("locked");
    process.stdin.resume().on("end", () => database.close());`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  await new Promise((resolve) => {
    child.stdout.once("data", resolve);
  });
  return () => {
    child.stdin.end();
    return gone;
  };
}

describe("a host that starts", () => {
  test("keeps folder, socket and files to its user, whatever the umask", async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const folder = join(newStateFolder(), "state");
    const { paths } = await startRealHost({ folder });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = [paths.socket, paths.database, paths.lock, paths.log, paths.hostFile];
    const open = files.filter((file) => (statSync(file).mode & 0o777) !== 0o600);
    expect(open).toEqual([]);
  });

  test("leaves a folder that has a host to that host, and says nothing", async () => {
    const first = await startRealHost();
    const second = await runHost(first.paths.folder);
    expect(second).toEqual({ code: 0, signal: null, stderr: "" });
    expect((await first.host.getStatus({})).pid).toBe(first.pid);
  });

  test("becomes the only one of ten that start at once", async () => {
    const folder = newStateFolder();
    const winner = startRealHost({ folder }).catch(() => undefined);
    const exits = Promise.all(
      Array.from({ length: 9 }, () => runHost(folder, { PI_WORKFLOWS_IDLE_MS: "0" })),
    );
    for (const exit of await exits) expect(exit).toMatchObject({ code: 0, stderr: "" });
    await winner;
    const log = readFileSync(join(folder, "host.log"), "utf8");
    const epochs = [...log.matchAll(/"event":"host\.started","epoch":(\d+)/g)].map(([, n]) => n);
    expect(new Set(epochs).size).toBe(epochs.length);
  });

  test("takes over what a killed host left, under a new epoch", async () => {
    const first = await startRealHost();
    const epoch = (await first.host.getStatus({})).epoch;
    await first.kill();
    expect(existsSync(first.paths.socket)).toBe(true);
    const second = await startRealHost({ folder: first.paths.folder });
    expect((await second.host.getStatus({})).epoch).toBe(epoch + 1n);
  });

  test.each([["BEGIN IMMEDIATE"], ["BEGIN EXCLUSIVE"]])(
    "waits for a program that holds the database by %s",
    async (statement) => {
      const folder = newStateFolder();
      const before = await startRealHost({ folder });
      await before.stop();
      const unlock = await lockDatabase(before.paths.database, statement);
      const starting = startRealHost({ folder });
      await expect
        .poll(() => readFileSync(before.paths.log, "utf8").includes("store.busy"), {
          timeout: 10_000,
        })
        .toBe(true);
      await unlock();
      const host = await starting;
      expect((await host.host.getStatus({})).state).toBe("serving");
    },
  );
});

describe("a host that cannot start", () => {
  test.each([
    [
      "the state folder is open to others",
      (folder: string) => chmodSync(folder, 0o755),
      /can be used by others \(mode 0755\); run: chmod 700/,
    ],
    [
      "a setting is wrong",
      (folder: string) => writeFileSync(join(folder, "settings.json"), '{"capacity": "many"}'),
      /settings\.json: capacity: must be a whole number/,
    ],
    [
      "the socket's place holds somebody's file",
      (folder: string) => writeFileSync(join(folder, "host.sock"), "mine"),
      /host\.sock is no socket and was not left by a host; remove it/,
    ],
    [
      "the socket's place holds a link",
      (folder: string) => symlinkSync("/elsewhere", join(folder, "host.sock")),
      /host\.sock is a symbolic link/,
    ],
    [
      "the database is another program's",
      (folder: string) => writeFileSync(join(folder, "host.db"), "x".repeat(8_192)),
      /host\.db is not an SQLite database.*Nothing was changed/,
    ],
    [
      "the lock is a folder",
      (folder: string) => mkdirSync(join(folder, "host.lock")),
      /host\.lock cannot be used/,
    ],
  ])("says in one line why and what to do when %s", async (_, spoil, message) => {
    const folder = newStateFolder();
    spoil(folder);
    const exit = await runHost(folder);
    expect(exit.code).toBe(5);
    expect(exit.stderr).toMatch(message);
    expect(exit.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("leaves a foreign database as it was", async () => {
    const folder = newStateFolder();
    const path = join(folder, "host.db");
    const foreign = `
      const Database = require("better-sqlite3");
      new Database(${JSON.stringify(path)}).exec("CREATE TABLE theirs (x)").close();`;
    execFileSync(process.execPath, ["-e", foreign]);
    const before = readFileSync(path);
    expect((await runHost(folder)).stderr).toContain("the database of another program");
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});
