/**
 * Builds `dist/`: what the package ships and what starts a process.
 *
 * Host, worker and command line are one CommonJS file each, because that form
 * starts in three quarters of the time of an ES module and a third of that of
 * unbundled packages. The authoring API stays an ES module with declarations.
 *
 * The folder is built beside and then moved in file by file, and a file whose
 * content did not change is not touched: a process that runs from `dist/`
 * never sees half a build.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import type { BuildOptions, PluginBuild } from "esbuild";
import { SCHEMA_FILES } from "../src/host/store/schema.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

/** Native code, or large and needed by few commands: loaded from node_modules when first used. */
const EXTERNAL = ["better-sqlite3", "esbuild", "ajv", "@dagrejs/dagre"];

/** What Pi loads. */
const EXTENSION_ENTRY = "src/extension/index.ts";

/** Files of `dist/` that a process or a thread is started from. */
const PROGRAMS = {
  cli: "src/cli/main.ts",
  host: "src/host/main.ts",
  worker: "src/worker/main.ts",
  watchdog: "src/worker/watchdog.ts",
} as const;

const SHARED: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  target: "node22.19",
  external: EXTERNAL,
  legalComments: "none",
  logLevel: "warning",
};

/** Lets a source file that asks for its own place work unchanged in a bundle. */
const OWN_PLACE: BuildOptions = {
  define: {
    "import.meta.url": "bundleUrl",
    "import.meta.dirname": "__dirname",
    "import.meta.filename": "__filename",
  },
  banner: { js: 'const bundleUrl = require("node:url").pathToFileURL(__filename).href;' },
};

async function main(): Promise<void> {
  const staging = mkdtempSync(join(ROOT, ".dist-"));
  try {
    await Promise.all([
      ...Object.entries(PROGRAMS).map(([name, entry]) => bundleProgram(name, entry, staging)),
      bundleAuthoringApi(staging),
      bundleExtension(join(staging, "extension")),
    ]);
    declareAuthoringApi(join(staging, "types"));
    for (const file of SCHEMA_FILES)
      cpSync(join(ROOT, "src/host/store", file), join(staging, file));
    moveInto(DIST, staging);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function bundleProgram(name: string, entry: string, staging: string): Promise<void> {
  await build({
    ...SHARED,
    ...OWN_PLACE,
    format: "cjs",
    entryPoints: [entry],
    outfile: join(staging, `${name}.cjs`),
  });
}

async function bundleAuthoringApi(staging: string): Promise<void> {
  await build({
    ...SHARED,
    platform: "neutral",
    format: "esm",
    entryPoints: ["src/workflow/index.ts"],
    outfile: join(staging, "workflow.js"),
  });
}

/**
 * Pi transpiles `index.js`, because its folder is no module folder to it, and
 * only so offers it the packages of the Pi that runs. All other parts are `.mjs`:
 * loaded as they are, and those with the wire only after Pi has started.
 */
async function bundleExtension(folder: string): Promise<void> {
  await build({
    ...SHARED,
    format: "esm",
    splitting: true,
    entryPoints: { index: EXTENSION_ENTRY },
    outExtension: { ".js": ".mjs" },
    outdir: folder,
    plugins: [{ name: "pi-packages", setup: takePiPackages }],
  });
  renameSync(join(folder, "index.mjs"), join(folder, "index.js"));
  writeFileSync(join(folder, "package.json"), "{}\n");
}

/** The entry imports Pi's packages; the other parts read what it has put down for them. */
function takePiPackages(bundle: PluginBuild): void {
  bundle.onResolve({ filter: /^@earendil-works\// }, ({ path, importer }) => {
    const isEntry = importer === join(ROOT, EXTENSION_ENTRY);
    return isEntry ? { path, external: true } : { path, namespace: "pi" };
  });
  bundle.onLoad({ filter: /.*/, namespace: "pi" }, ({ path }) => {
    const packages = 'globalThis[Symbol.for("pi-workflows.pi-packages")]';
    return { contents: `module.exports = ${packages}[${JSON.stringify(path)}];` };
  });
}

function declareAuthoringApi(outDir: string): void {
  const compiler = spawnSync(
    join(ROOT, "node_modules/.bin/tsc"),
    ["-p", "tsconfig.build.json", "--outDir", outDir],
    { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] },
  );
  if (compiler.status !== 0) throw new Error("the authoring API does not compile");
}

/**
 * Makes `target` equal to `staging`, replacing whole files and only those that
 * differ. What nobody refers to any more goes last, and what Pi begins with
 * comes after all that it refers to.
 */
function moveInto(target: string, staging: string): void {
  const wanted = filesIn(staging).toSorted((left, right) => rank(left) - rank(right));
  for (const file of wanted) {
    if (isSame(join(staging, file), join(target, file))) continue;
    mkdirSync(dirname(join(target, file)), { recursive: true });
    renameSync(join(staging, file), join(target, file));
  }
  for (const file of filesIn(target)) {
    if (!wanted.includes(file)) rmSync(join(target, file));
  }
}

function rank(file: string): number {
  return file === "extension/index.js" ? 1 : 0;
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function isSame(left: string, right: string): boolean {
  return existsSync(right) && readFileSync(left).equals(readFileSync(right));
}

await main();
