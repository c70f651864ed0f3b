import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { configuredCopy, defaultModel } from "../../../../src/host/headless/pi-settings.ts";

let folder = "";
let places = { agentDir: "", projectDir: "" };

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-settings-")));
  places = { agentDir: join(folder, "agent"), projectDir: join(folder, "work", "project") };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, value: object): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
}

/** Puts a copy of a package there. */
function install(path: string, name = "pi-workflows"): string {
  write(`${path}/package.json`, { name, version: "9.9.9" });
  return join(folder, path);
}

describe("a copy of this package that Pi loads by itself", () => {
  test("is none where nothing is configured, or only others", () => {
    expect(configuredCopy(places)).toBeUndefined();
    install("agent/npm/node_modules/pi-workflows-theme", "pi-workflows-theme");
    write("agent/settings.json", { packages: ["npm:pi-workflows-theme", "npm:gone", 7], theme: 1 });
    expect(configuredCopy(places)).toBeUndefined();
  });

  test.each([
    ["npm:pi-workflows", "agent/npm/node_modules/pi-workflows"],
    ["npm:pi-workflows@1.2.3", "agent/npm/node_modules/pi-workflows"],
    ["../copy", "copy"],
    ["git:example.com/owner/pi-workflows", "agent/git/example.com/owner/pi-workflows"],
    ["https://example.com/owner/repo@v1", "agent/git/example.com/owner/repo"],
  ])("is what the user's packages name as %s", (source, place) => {
    const copy = install(place);
    write("agent/settings.json", { packages: [source] });
    expect(configuredCopy(places)).toBe(copy);
    write("agent/settings.json", { packages: [{ source, skills: [] }] });
    expect(configuredCopy(places)).toBe(copy);
  });

  test("is told by its real path", () => {
    const copy = install("copy");
    symlinkSync(copy, join(folder, "link"));
    write("agent/settings.json", { packages: [join(folder, "link")] });
    expect(configuredCopy(places)).toBe(copy);
  });

  test("may be named as an extension, or lie among the extensions", () => {
    const copy = install("copy");
    write("copy/dist/extension/index.js", {});
    write("agent/settings.json", { extensions: ["../copy/dist/extension/index.js"] });
    expect(configuredCopy(places)).toBe(copy);
    write("agent/settings.json", {});
    mkdirSync(join(folder, "agent/extensions"));
    symlinkSync(copy, join(folder, "agent/extensions/workflows"));
    expect(configuredCopy(places)).toBe(copy);
  });

  test("counts in a project only where that is trusted", () => {
    const copy = install("work/project/.pi/npm/node_modules/pi-workflows");
    write("work/project/.pi/settings.json", { packages: ["npm:pi-workflows"] });
    expect(configuredCopy(places)).toBeUndefined();
    write("agent/trust.json", { [join(folder, "work")]: true });
    expect(configuredCopy(places)).toBe(copy);
    write("agent/trust.json", { [join(folder, "work")]: true, [places.projectDir]: false });
    expect(configuredCopy(places)).toBeUndefined();
    write("agent/trust.json", {});
    write("agent/settings.json", { defaultProjectTrust: "always" });
    expect(configuredCopy(places)).toBe(copy);
  });

  test("is none in settings that cannot be read", () => {
    mkdirSync(places.agentDir);
    writeFileSync(join(places.agentDir, "settings.json"), "{");
    expect(configuredCopy(places)).toBeUndefined();
  });
});

test("the default model is the user's, or that of a trusted project", () => {
  expect(defaultModel(places)).toBeUndefined();
  write("agent/settings.json", { defaultProvider: "p", defaultModel: "m" });
  write("work/project/.pi/settings.json", { defaultModel: "own" });
  expect(defaultModel(places)).toEqual({ provider: "p", model: "m", args: [] });
  write("agent/trust.json", { [places.projectDir]: true });
  expect(defaultModel(places)).toEqual({ provider: "p", model: "own", args: [] });
});
