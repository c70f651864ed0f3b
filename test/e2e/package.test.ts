import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { describe, expect, inject, onTestFinished, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

describe("the packed package", () => {
  test("holds what runs and nothing of the workshop", () => {
    const files = execFileSync("tar", ["tzf", inject("tarball")], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map((line) => line.replace(/^package\//, ""));
    expect(files).toEqual(
      expect.arrayContaining([
        "bin/pi-workflows.cjs",
        "dist/cli.cjs",
        "dist/host.cjs",
        "dist/worker.cjs",
        "dist/schema.sql",
        "dist/schema-sessions.sql",
        "dist/schema-rules.sql",
        "dist/workflow.js",
        "dist/extension/index.js",
        "skills/workflows/SKILL.md",
        "dist/types/workflow/index.d.ts",
        "LICENSE",
        "README.md",
        "docs/index.md",
        "docs/authoring.md",
        "docs/cli.md",
        "CHANGELOG.md",
        "package.json",
      ]),
    );
    expect(files.filter((file) => /^(?:src|test|scripts|node_modules)\//.test(file))).toEqual([]);
  });

  test("gives authors types that hold them to the API", () => {
    const folder = projectWithPackage();
    const good =
      'import { compute } from "pi-workflows";\nexport const node = compute({ run: () => 1 });\n';
    writeFileSync(join(folder, "workflow.ts"), good);
    expect(compilerSays(folder)).toBe("");
    writeFileSync(join(folder, "workflow.ts"), good.replace("() => 1", "1"));
    expect(compilerSays(folder)).toContain("workflow.ts(2,");
  });
});

describe("the gate in front of the command line", () => {
  test.each(["20.20.2", "22.18.9", "16.0.0"])("turns Node.js %s away with what it needs", (old) => {
    const { status, stderr } = runGate(old);
    expect(stderr).toContain("22.19.0 or newer");
    expect(stderr).toContain(process.execPath);
    expect(status).toBe(78);
  });

  test.each(["22.19.0", "22.100.0", "24.0.0", "30.1.2"])("lets Node.js %s in", (version) => {
    expect(runGate(version).status).toBe(0);
  });

  test("says what to do when the program was not built", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "bin"));
    const gate = join(folder, "bin/pi-workflows.cjs");
    copyFileSync(join(ROOT, "bin/pi-workflows.cjs"), gate);
    const { status, stderr } = spawnSync(process.execPath, [gate, "--version"], {
      encoding: "utf8",
    });
    expect(stderr).toContain("is missing; run `npm run build` first");
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(status).toBe(1);
  });

  test("is written so that the oldest Node.js can read it", () => {
    const text = readFileSync(join(ROOT, "bin/pi-workflows.cjs"), "utf8");
    const printedFor = (target: string): string => transformSync(text, { target }).code;
    expect(printedFor("es5")).toBe(printedFor("esnext"));
  });
});

function projectWithPackage(): string {
  const folder = temporaryFolder();
  const home = join(folder, "node_modules/pi-workflows");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["xzf", inject("tarball"), "-C", home, "--strip-components=1"]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return folder;
}

function compilerSays(folder: string): string {
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024"];
  const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
  return spawnSync(join(ROOT, "node_modules/.bin/tsc"), [...options, ...types, "workflow.ts"], {
    cwd: folder,
    encoding: "utf8",
  }).stdout;
}

/** Runs the gate with `--version` under a Node.js that says it is another. */
function runGate(version: string): { status: number | null; stderr: string } {
  const disguise = join(temporaryFolder(), "disguise.cjs");
  writeFileSync(
    disguise,
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });\n`,
  );
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--require", disguise, join(ROOT, "bin/pi-workflows.cjs"), "--version"],
    { encoding: "utf8" },
  );
  return { status, stderr };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "package-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
