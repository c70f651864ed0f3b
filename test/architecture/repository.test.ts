import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesBelow, ROOT } from "./source-tree.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

// Spelled in parts, so that this file does not hold what it looks for.
const MACHINE_PATHS = [
  ["/wo", "rk/"],
  ["/ro", "ot/"],
  ["/ho", "me/[a-z]"],
  ["/Us", "ers/[a-z]"],
].map((parts) => new RegExp(`(?<![\\w.$}~])${parts.join("")}`));
const REGISTRY = /https?:\/\/[^\s"')]*(?:registry|artifactory|nexus)[^\s"')]*/;

const TEXT = /\.(?:ts|mjs|cjs|js|json|jsonc|yaml|yml|md|sql|proto|sh)$|^[^.]+$/;
const TOP_LEVEL = ["package.json", "tsconfig.json", "tsconfig.build.json", "vitest.config.ts"];
const DOCUMENTS = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"];
const FOLDERS = ["src", "test", "scripts", "bin", "proto", "docs", "examples", ".ci"];

describe("the repository", () => {
  test("names no place on the machine it was written on", () => {
    const found = texts().filter(({ text }) => MACHINE_PATHS.some((one) => one.test(text)));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test("names no registry", () => {
    const lock = { path: "package-lock.json", text: read("package-lock.json") };
    const found = [...texts(), lock].filter(({ text }) => REGISTRY.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
    expect(lock.text.includes('"resolved"')).toBe(false);
  });

  test.each([
    ["a home folder", ["/ho", "me/ada/notes"]],
    ["the administrator's folder", ['"/ro', 'ot/.pi"']],
    ["a working folder", ["cd /wo", "rk/main"]],
  ])("recognises %s", (_, parts) => {
    expect(MACHINE_PATHS.filter((one) => one.test(parts.join("")))).toHaveLength(1);
  });
});

describe("the manifest", () => {
  const { dependencies, devDependencies } = manifest();

  // npm under an older Node.js resolves a range to an older release without a word.
  test("pins every version, with one exception", () => {
    const loose = Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(([name]) => name);
    // vite 8.4 has an optional dependency that `npm ci` cannot install from a lock file.
    expect(loose).toEqual(["vite"]);
  });

  test("holds connect and its Node adapter at one version", () => {
    expect(dependencies["@connectrpc/connect"]).toBe(dependencies["@connectrpc/connect-node"]);
  });
});

function texts(): readonly { path: string; text: string }[] {
  const paths = [...TOP_LEVEL, ...DOCUMENTS, ...FOLDERS.flatMap(filesBelow)];
  return paths
    .filter((path) => TEXT.test(path.slice(path.lastIndexOf("/") + 1)))
    .map((path) => ({ path, text: read(path) }));
}

function manifest(): Manifest {
  // npm itself has read it before any test runs, so its shape is known.
  return JSON.parse(read("package.json")) as Manifest;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
