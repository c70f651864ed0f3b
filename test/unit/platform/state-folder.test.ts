import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  agentDir,
  prepareStateFolder,
  SOCKET_PATH_BYTES_MAX,
  StateFolderError,
  statePaths,
} from "../../../src/platform/state-folder.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "state-")));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe("the state folder", () => {
  test("is the one that was named, else below Pi's own, else below the home", () => {
    const home = join(root, "home");
    expect(statePaths({ HOME: home }).folder).toBe(join(home, ".pi/agent/workflows"));
    expect(statePaths({ HOME: home, PI_CODING_AGENT_DIR: join(root, "pi") }).folder).toBe(
      join(root, "pi/workflows"),
    );
    const named = { HOME: home, PI_CODING_AGENT_DIR: "/x", PI_WORKFLOWS_HOME: join(root, "here") };
    expect(statePaths(named).folder).toBe(join(root, "here"));
    expect(agentDir({ HOME: home, PI_CODING_AGENT_DIR: "" })).toBe(join(home, ".pi/agent"));
    expect(agentDir({ HOME: home, PI_CODING_AGENT_DIR: "~/pi" })).toBe(join(home, "pi"));
  });

  test("is absolute and the same by whichever name it is reached", () => {
    mkdirSync(join(root, "real"));
    symlinkSync(join(root, "real"), join(root, "link"));
    const direct = statePaths({ PI_WORKFLOWS_HOME: join(root, "real/new") });
    const linked = statePaths({ PI_WORKFLOWS_HOME: join(root, "link/./new/") });
    expect(linked).toEqual(direct);
    const relative = statePaths({ PI_WORKFLOWS_HOME: "some/where" });
    expect(relative.folder).toBe(join(process.cwd(), "some/where"));
  });

  test("is made for its owner alone, whatever the umask was", () => {
    const paths = pathsIn("a/b");
    const before = process.umask(0o000);
    try {
      prepareStateFolder(paths);
      for (const folder of [paths.folder, paths.cacheDir, paths.workersDir, join(root, "a")]) {
        expect(statSync(folder).mode & 0o777).toBe(0o700);
      }
      writeFileSync(paths.hostFile, "");
      expect(statSync(paths.hostFile).mode & 0o777).toBe(0o600);
      prepareStateFolder(paths);
    } finally {
      process.umask(before);
    }
  });

  test.each([0o777, 0o750, 0o701])("of mode %o is refused with the remedy", (mode) => {
    const paths = pathsIn("open");
    mkdirSync(paths.folder);
    chmodSync(paths.folder, mode);
    expect(() => prepareStateFolder(paths)).toThrow(`run: chmod 700 '${paths.folder}'`);
    expect(statSync(paths.folder).mode & 0o777).toBe(mode);
  });

  test.runIf(process.getuid?.() === 0)("of somebody else is refused", () => {
    const paths = pathsIn("foreign");
    mkdirSync(paths.folder, { mode: 0o700 });
    chownSync(paths.folder, 12_345, 12_345);
    expect(() => prepareStateFolder(paths)).toThrow("belongs to user 12345");
  });

  test("that is a file, or below one, is refused", () => {
    writeFileSync(join(root, "file"), "");
    expect(() => prepareStateFolder(pathsIn("file"))).toThrow(StateFolderError);
    expect(() => prepareStateFolder(pathsIn("file/below"))).toThrow("cannot be created");
  });

  // Run in a process that can be ended: a creation that never returns must fail this test alone.
  test.runIf(existsSync("/proc/self")).each(["/proc/nope", "/proc/nope/deep/er"])(
    "in a place that takes no folders (%s) is refused at once",
    (folder) => {
      const module = JSON.stringify(
        new URL("../../../src/platform/state-folder.ts", import.meta.url),
      );
      const script = `
        const { prepareStateFolder, statePaths } = await import(${module});
        try { prepareStateFolder(statePaths({ PI_WORKFLOWS_HOME: ${JSON.stringify(folder)} })); }
        catch (error) { console.log(error.name, error.message); }`;
      const { stdout, signal } = spawnSync(
        process.execPath,
        ["--input-type=module", "-e", script],
        {
          encoding: "utf8",
          timeout: 10_000,
          killSignal: "SIGKILL",
        },
      );
      expect(signal).toBeNull();
      expect(stdout).toMatch(`StateFolderError ${folder} cannot be created: ENOENT`);
      expect(stdout).toContain("set PI_WORKFLOWS_HOME");
    },
  );
});

describe("the socket", () => {
  test.each([90, 103, 104, 107])("is in the folder when its path has %i bytes", (bytes) => {
    const folder = folderOfLength(bytes - "/host.sock".length, "x");
    const { socket } = statePaths({ PI_WORKFLOWS_HOME: folder });
    expect(Buffer.byteLength(socket)).toBe(bytes);
    expect(dirname(socket)).toBe(folder);
  });

  test.each([
    [108, "x"],
    [200, "x"],
    [110, "é"],
    [200, "工"],
  ])("has a short path of its own when it would have %i bytes of %s", (bytes, letter) => {
    const folder = folderOfLength(bytes - "/host.sock".length, letter);
    const { socket } = statePaths({ PI_WORKFLOWS_HOME: folder, XDG_RUNTIME_DIR: "/run/user/7" });
    expect(socket).toMatch(/^\/run\/user\/7\/pi-workflows-\d+\/[0-9a-f]{16}\.sock$/);
    // Client and host agree without talking.
    expect(statePaths({ PI_WORKFLOWS_HOME: folder, XDG_RUNTIME_DIR: "/run/user/7" }).socket).toBe(
      socket,
    );
    expect(
      statePaths({ PI_WORKFLOWS_HOME: `${folder}y`, XDG_RUNTIME_DIR: "/run/user/7" }).socket,
    ).not.toBe(socket);
  });

  test("passes over a runtime folder that is itself too long", () => {
    const folder = folderOfLength(150, "x");
    const { socket } = statePaths({
      PI_WORKFLOWS_HOME: folder,
      XDG_RUNTIME_DIR: `/${"y".repeat(90)}`,
    });
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(SOCKET_PATH_BYTES_MAX);
    expect(socket).not.toContain("yyy");
  });
});

function pathsIn(name: string): ReturnType<typeof statePaths> {
  return statePaths({ PI_WORKFLOWS_HOME: join(root, name) });
}

/** An absolute path of so many bytes that does not exist. */
function folderOfLength(bytes: number, letter: string): string {
  const start = "/nowhere/";
  const width = Buffer.byteLength(letter);
  const count = Math.floor((bytes - start.length) / width);
  const path = `${start}${letter.repeat(count)}`;
  return path + "x".repeat(bytes - Buffer.byteLength(path));
}
