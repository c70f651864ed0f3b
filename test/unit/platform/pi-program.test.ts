import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findPi } from "../../../src/platform/pi-program.ts";
import { piFitness } from "../../../src/platform/pi-version.ts";

const PACKAGE = "node_modules/@earendil-works/pi-coding-agent";
let folder = "";

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-program-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text = "", mode = 0o755): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  chmodSync(whole, mode);
  return whole;
}

/** Pi as npm installs it; returns its script. */
function install(root: string, version: string): string {
  const manifest = { name: "@earendil-works/pi-coding-agent", version, bin: { pi: "dist/cli.js" } };
  file(`${root}/${PACKAGE}/package.json`, JSON.stringify(manifest), 0o644);
  return file(`${root}/${PACKAGE}/dist/cli.js`);
}

const find = (search: Partial<Parameters<typeof findPi>[0]> = {}) =>
  findPi({ piCommand: "", path: join(folder, "bin"), root: join(folder, "empty"), ...search });

describe("the program of Pi", () => {
  test("is the one on the path; a script of it is run by this Node.js", () => {
    const script = install("lib", "1.6.0");
    mkdirSync(join(folder, "bin"));
    const link = join(folder, "bin/pi");
    symlinkSync(script, link);
    expect(find()).toEqual({ command: [process.execPath, script], path: link, version: "1.6.0" });
  });

  test("may be a program of its own kind, which does not tell its version", () => {
    const program = file("bin/pi", "#!/bin/sh\n");
    expect(find()).toEqual({ command: [program], path: program, version: undefined });
  });

  test("is else the copy beside this package, in any folder above", () => {
    const script = install("home", "1.7.2");
    const root = join(folder, "home/node_modules/pi-workflows");
    expect(find({ root })).toMatchObject({ command: [process.execPath, script] });
  });

  test("is first of all what the setting names", () => {
    file("bin/pi");
    const other = file("other/pi-dev");
    expect(find({ piCommand: other })).toMatchObject({ command: [other] });
    expect(find({ piCommand: "pi-dev", path: join(folder, "other") })).toMatchObject({
      command: [other],
    });
    const script = file("other/cli.mjs", "", 0o644);
    expect(find({ piCommand: script })).toMatchObject({ command: [process.execPath, script] });
  });

  test("is missing with a word about what to do", () => {
    expect(find()).toMatchObject({ kind: "missing" });
    expect(find().problem).toContain("npm install -g");
    expect(find().problem).toContain(`PATH (${join(folder, "bin")})`);
    expect(find({ piCommand: "/nowhere/pi" }).problem).toContain("piCommand names /nowhere/pi");
    file("bin/pi", "", 0o644);
    expect(find()).toMatchObject({ kind: "missing" });
  });

  test.each([
    ["1.5.9", "update it"],
    ["2.0.0", "update pi-workflows"],
  ])("of version %s is refused: %s", (version, remedy) => {
    const script = install("lib", version);
    expect(find({ piCommand: script })).toMatchObject({ kind: "unfit" });
    expect(find({ piCommand: script }).problem).toContain(remedy);
  });
});

test.each([
  ["1.6.0", "fits"],
  ["1.12.3-beta.1", "fits"],
  ["1.5.99", "too_old"],
  ["0.80.1", "too_old"],
  ["2.0.0", "too_new"],
  ["", "unknown"],
  [undefined, "unknown"],
])("version %s: %s", (version, fitness) => {
  expect(piFitness(version)).toBe(fitness);
});
