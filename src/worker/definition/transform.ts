import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import type * as Esbuild from "esbuild";
import { newId, sha256Hex } from "../../platform/ids.ts";

/**
 * TypeScript to JavaScript by esbuild, with the source map inside, and a cache
 * of the results. Types are erased, not checked.
 */
export interface Transformer {
  /** The result if it is cached. */
  cached(file: TransformInput): string | undefined;
  transform(file: TransformInput): Promise<string>;
  /** For modules that nobody knew of before they were asked for; starts a process of its own. */
  transformNow(file: TransformInput): string;
  /** Reads a file that needs no transformation and throws what is wrong with its syntax. */
  check(file: TransformInput): Promise<void>;
  /** Ends every process of esbuild. Needed again, it starts again. */
  stop(): Promise<void>;
}

export interface TransformInput {
  readonly path: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

type Loader = "ts" | "tsx" | "jsx";

const LOADERS: Readonly<Record<string, Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".jsx": "jsx",
};

/** Whether a file must be transformed before it can be evaluated. */
export function needsTransform(path: string): boolean {
  return Object.hasOwn(LOADERS, extname(path));
}

/** Raised with every change of the options below, so that no older result is used. */
const OPTIONS_VERSION = 1;

function optionsFor(path: string): Esbuild.TransformOptions {
  return {
    loader: LOADERS[extname(path)] ?? "ts",
    // Errors then name the line that the author wrote.
    sourcemap: "inline",
    sourcesContent: false,
    sourcefile: path,
    target: "node22",
    // The author's settings of the compiler are for checking, and are not read here.
    tsconfigRaw: "{}",
    logLevel: "silent",
  };
}

export function createTransformer(cacheDir: string): Transformer {
  const folder = join(cacheDir, "transform");
  return {
    cached: (file) => readCache(folder, file),
    async transform(file) {
      const { code } = await compile(file.bytes, optionsFor(file.path));
      writeCache(folder, file, code);
      return code;
    },
    transformNow(file) {
      const known = readCache(folder, file);
      if (known !== undefined) return known;
      const { code } = loadEsbuild().transformSync(file.bytes, optionsFor(file.path));
      writeCache(folder, file, code);
      // It would otherwise wait for the next module for as long as this process lives.
      void loadEsbuild().stop();
      return code;
    },
    async check(file) {
      await compile(file.bytes, { loader: "js", logLevel: "silent" });
    },
    async stop() {
      await loaded?.stop();
    },
  };
}

/** A process that was started ahead may have been ended by anybody since: then there is another one. */
async function compile(
  bytes: Uint8Array,
  options: Esbuild.TransformOptions,
): Promise<Esbuild.TransformResult> {
  const esbuild = loadEsbuild();
  try {
    return await esbuild.transform(bytes, options);
  } catch (error) {
    const isOfTheFile = error instanceof Error && "errors" in error;
    if (isOfTheFile) throw error;
    await esbuild.stop();
    return await esbuild.transform(bytes, options);
  }
}

/** Has the process of esbuild running: half of what the first use of a file costs. `stop` ends it. */
export async function startEsbuild(): Promise<void> {
  await loadEsbuild().transform("", optionsFor("empty.ts"));
}

let loaded: typeof Esbuild | undefined;

/** Loaded when it is first needed: it costs a tenth of a worker's start, and a cached file needs none. */
export function loadEsbuild(): typeof Esbuild {
  // The module's shape is what its own declarations say.
  loaded ??= createRequire(import.meta.url)("esbuild") as typeof Esbuild;
  return loaded;
}

/** One file per content, place and tool; the place is inside the source map. */
function cacheFile(folder: string, { path, digest }: TransformInput): string {
  const identity = `${OPTIONS_VERSION}\n${esbuildVersion()}\n${path}\n${digest}`;
  return join(folder, `${sha256Hex(identity).slice(0, 40)}.js`);
}

let version: string | undefined;

/** Read from its manifest, because the module itself is slow to load. */
function esbuildVersion(): string {
  if (version === undefined) {
    const manifest: unknown = createRequire(import.meta.url)("esbuild/package.json");
    const stated =
      typeof manifest === "object" && manifest !== null && "version" in manifest
        ? manifest.version
        : undefined;
    version = typeof stated === "string" ? stated : "unknown";
  }
  return version;
}

function readCache(folder: string, file: TransformInput): string | undefined {
  let text: string;
  try {
    text = readFileSync(cacheFile(folder, file), "utf8");
  } catch {
    return undefined;
  }
  // A file that a power cut left behind half-written or empty is not trusted.
  const end = text.indexOf("\n");
  const code = text.slice(end + 1);
  return end !== -1 && text.slice(0, end) === sha256Hex(code) ? code : undefined;
}

/** A cache that cannot be written, on a full disk for one, costs time and nothing else. */
function writeCache(folder: string, file: TransformInput, code: string): void {
  const target = cacheFile(folder, file);
  const staged = `${target}.${newId("str")}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(staged, `${sha256Hex(code)}\n${code}`, { mode: 0o600 });
    renameSync(staged, target);
  } catch {
    // See above.
  }
}
