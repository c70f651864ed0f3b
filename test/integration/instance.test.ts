import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { becomeInstance, InstanceError } from "../../src/host/instance.ts";
import type { HostDescription, Instance } from "../../src/host/instance.ts";
import { statePaths } from "../../src/platform/state-folder.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";
import { temporaryFolder } from "../support/test-store.ts";

const DESCRIPTION: HostDescription = {
  pid: process.pid,
  startTime: "1",
  bootId: "boot",
  version: "1.2.3",
  epoch: 4,
  startedAt: "2025-01-01T00:00:00.000Z",
};

function newPaths(): StatePaths {
  return statePaths({ PI_WORKFLOWS_HOME: temporaryFolder() });
}

function become(paths: StatePaths): Instance {
  const instance = becomeInstance(paths);
  if (instance === undefined) throw new Error("the lock is taken");
  onTestFinished(() => instance.release());
  return instance;
}

async function listen(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(() => void server.close());
}

/** Whether a process of its own could take the lock now. */
function isFreeForOthers(lock: string): boolean {
  const script = `
    const Database = require("better-sqlite3");
    const database = new Database(${JSON.stringify(lock)}, { timeout: 0 });
    try { database.exec("BEGIN EXCLUSIVE"); console.log("free"); } catch { console.log("taken"); }`;
  return execFileSync(process.execPath, ["-e", script]).toString().trim() === "free";
}

describe("the lock", () => {
  test("is had by one process and free when it lets go", () => {
    const paths = newPaths();
    const instance = become(paths);
    expect(isFreeForOthers(paths.lock)).toBe(false);
    instance.release();
    expect(isFreeForOthers(paths.lock)).toBe(true);
  });

  test("is not lost by looking at the folder", () => {
    const paths = newPaths();
    const instance = become(paths);
    instance.publish(DESCRIPTION);
    instance.identity();
    statSync(paths.lock);
    expect(isFreeForOthers(paths.lock)).toBe(false);
  });

  test("leaves no file beside its own", () => {
    const paths = newPaths();
    become(paths);
    expect(existsSync(`${paths.lock}-journal`)).toBe(false);
  });

  test.each([
    ["a link", (path: string) => symlinkSync("/tmp", path)],
    ["a folder", (path: string) => mkdirSync(path)],
    ["another program's file", (path: string) => writeFileSync(path, "x".repeat(4096))],
  ])("refuses %s in its place, and says what to do", (_, put) => {
    const paths = newPaths();
    put(paths.lock);
    expect(() => becomeInstance(paths)).toThrow(InstanceError);
    expect(() => becomeInstance(paths)).toThrow(/host\.lock cannot be used .*; remove it$/);
  });
});

describe("the socket's place", () => {
  test("is freed of what a dead host left", async () => {
    const paths = newPaths();
    await listen(paths.socket);
    become(paths).clearSocket();
    expect(existsSync(paths.socket)).toBe(false);
  });

  test("may be free already", () => {
    const instance = become(newPaths());
    expect(() => instance.clearSocket()).not.toThrow();
  });

  test.each([
    ["a regular file", (path: string) => writeFileSync(path, "mine")],
    ["a link to a socket", (path: string) => symlinkSync("/elsewhere.sock", path)],
    ["a folder", (path: string) => mkdirSync(path)],
  ])("is left alone when it holds %s", (_, put) => {
    const paths = newPaths();
    put(paths.socket);
    const instance = become(paths);
    expect(() => instance.clearSocket()).toThrow(/was not left by a host; remove it$/);
    expect(lstatSync(paths.socket, { throwIfNoEntry: false })).toBeDefined();
  });
});

describe("host.json", () => {
  test("tells where the host is, to its owner alone, and is withdrawn", async () => {
    const paths = newPaths();
    const instance = become(paths);
    await listen(paths.socket);
    instance.publish(DESCRIPTION);
    const told = JSON.parse(readFileSync(paths.hostFile, "utf8")) as unknown;
    expect(told).toEqual({ ...DESCRIPTION, socket: paths.socket });
    expect(statSync(paths.hostFile).mode & 0o777).toBe(0o600);
    instance.release();
    expect(existsSync(paths.hostFile)).toBe(false);
  });

  test("of another host stays", () => {
    const paths = newPaths();
    const instance = become(paths);
    instance.publish({ ...DESCRIPTION, pid: process.pid + 1 });
    instance.release();
    expect(existsSync(paths.hostFile)).toBe(true);
  });
});

describe("a host's identity", () => {
  test("holds while its files are the ones it opened", async () => {
    const paths = newPaths();
    const instance = become(paths);
    await listen(paths.socket);
    instance.publish(DESCRIPTION);
    expect(instance.identity()).toBe("same");
  });

  test("is lost with the lock's file, whatever takes its place", async () => {
    const paths = newPaths();
    const instance = become(paths);
    await listen(paths.socket);
    instance.publish(DESCRIPTION);
    renameSync(paths.lock, `${paths.lock}.old`);
    expect(instance.identity()).toBe("lock_replaced");
    writeFileSync(paths.lock, "");
    expect(instance.identity()).toBe("lock_replaced");
    // Moved back, it is the same file again.
    renameSync(`${paths.lock}.old`, paths.lock);
    expect(instance.identity()).toBe("same");
  });

  test("needs its socket's file", async () => {
    const paths = newPaths();
    const instance = become(paths);
    await listen(paths.socket);
    instance.publish(DESCRIPTION);
    renameSync(paths.socket, join(paths.folder, "away.sock"));
    expect(instance.identity()).toBe("socket_gone");
  });
});
