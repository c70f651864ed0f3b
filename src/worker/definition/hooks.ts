import { registerHooks } from "node:module";
import type {
  LoadHookContext,
  LoadHookSync,
  ResolveHookContext,
  ResolveHookSync,
} from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as api from "../../workflow/index.ts";
import { findFile, resolveLocal } from "./local-path.ts";
import type { LoadSession, PreparedFile } from "./session.ts";
import { packageRootOf } from "./sources.ts";

/** Names by which workflow files import this package; the second one is that of older files. */
const API_NAMES: ReadonlySet<string> = new Set(["pi-workflows", "@osolmaz/pi-workflows"]);

/**
 * Workflow files get the API of the running worker, never a second copy: the one
 * that a project may have installed can be of another version.
 */
const API_KEY = "pi-workflows.api";
const API_URLS = { import: "pi-workflows:api.mjs", require: "pi-workflows:api.cjs" } as const;

const sessions: LoadSession[] = [];

/**
 * Makes the imports of this session's files go through its hooks, also later
 * while nodes run. A process evaluates a file once: Node would answer a second
 * import from its cache, without a look at what is on disk by then.
 */
export function installSession(session: LoadSession): void {
  if (sessions.some(({ entry }) => entry === session.entry))
    throw new Error(`${session.entry} was loaded in this process before`);
  if (sessions.length === 0) {
    Object.defineProperty(globalThis, Symbol.for(API_KEY), { value: api, configurable: true });
    registerHooks({ resolve, load });
  }
  sessions.push(session);
}

type NextResolve = Parameters<ResolveHookSync>[2];
type Resolved = ReturnType<ResolveHookSync>;

function resolve(specifier: string, context: ResolveHookContext, next: NextResolve): Resolved {
  if (API_NAMES.has(specifier)) {
    const required = context.conditions.includes("require");
    return { url: API_URLS[required ? "require" : "import"], shortCircuit: true };
  }
  const entered = sessions.find(({ entryUrl }) => entryUrl === specifier);
  if (entered !== undefined) return take(entered, entered.entry);
  const importer = pathOf(context.parentURL);
  const session = importer === undefined ? undefined : sessions.find((it) => it.holds(importer));
  if (importer === undefined || session === undefined) return next(specifier, context);
  try {
    return resolveFor(session, { specifier, importer, context, next });
  } catch (error) {
    session.failures.push({ specifier, importer, error });
    throw error;
  }
}

interface Request {
  readonly specifier: string;
  readonly importer: string;
  readonly context: ResolveHookContext;
  readonly next: NextResolve;
}

function resolveFor(session: LoadSession, request: Request): Resolved {
  const { specifier, importer, context, next } = request;
  // Inside a package Node's own rules hold: it was published to be loaded by them.
  if (packageRootOf(importer) !== undefined) return noted(session, next(specifier, context));
  const local = resolveLocal(specifier, importer, (path) => session.hasRecordedBytes(path));
  if (local.kind === "package") return noted(session, resolvePackage(session, request));
  if (local.kind === "file") return take(session, local.path);
  throw Object.assign(new Error(`Cannot find ${specifier} imported from ${importer}`), {
    code: "ERR_MODULE_NOT_FOUND",
  });
}

/**
 * A package, or a name that the package's own `imports` map to a file. A workflow
 * that lives outside the project may also use the packages of the project.
 */
function resolvePackage(
  session: LoadSession,
  { specifier, importer, context, next }: Request,
): Resolved {
  try {
    return next(specifier, context);
  } catch (error) {
    const mapped = behindMissing(session, error);
    if (mapped !== undefined) return take(session, mapped);
    if (session.isInProject(importer)) throw error;
    const parentURL = pathToFileURL(join(session.projectDir, "package.json")).href;
    try {
      return next(specifier, { ...context, parentURL });
    } catch {
      throw error;
    }
  }
}

/** Node names the file that it did not find; a TypeScript file may stand behind that name. */
function behindMissing(session: LoadSession, error: unknown): string | undefined {
  const url = error instanceof Error && "url" in error ? error.url : undefined;
  const missing = typeof url === "string" ? pathOf(url) : undefined;
  if (missing === undefined) return undefined;
  return findFile(missing, (path) => session.hasRecordedBytes(path));
}

/** Records where Node's own resolution led. */
function noted(session: LoadSession, resolved: Resolved): Resolved {
  const path = pathOf(resolved.url);
  if (path === undefined) return resolved;
  if (packageRootOf(path) === undefined) return take(session, path);
  session.record(path);
  return resolved;
}

function take(session: LoadSession, path: string): Resolved {
  session.record(path);
  return { url: pathToFileURL(path).href, shortCircuit: true };
}

type NextLoad = Parameters<LoadHookSync>[2];
type Loaded = ReturnType<LoadHookSync>;

function load(url: string, context: LoadHookContext, next: NextLoad): Loaded {
  if (url === API_URLS.import) return apiModule("module");
  if (url === API_URLS.require) return apiModule("commonjs");
  const path = pathOf(url);
  if (path === undefined || packageRootOf(path) !== undefined || path.endsWith(".node"))
    return next(url, context);
  for (const session of sessions) {
    const file = session.prepared(path);
    if (file !== undefined) return asModule(file, context, () => next(url, context));
  }
  return next(url, context);
}

function asModule(file: PreparedFile, context: LoadHookContext, next: () => Loaded): Loaded {
  const { format, code, path } = file;
  if (context.conditions.includes("require")) return { format, source: code, shortCircuit: true };
  if (format === "json" && context.importAttributes["type"] !== "json")
    // Node asks for an import attribute that bundlers and older files do without.
    return { format: "module", source: `export default ${code.trim()};\n`, shortCircuit: true };
  if (format !== "commonjs") return { format, source: code, shortCircuit: true };
  // Given a source, Node's bridge from import to CommonJS hands out a `require` without hooks.
  return file.isAsOnDisk ? next() : bridge(path, code);
}

/** Imports a CommonJS file by requiring it, which leads back here with hooks. */
function bridge(path: string, code: string): Loaded {
  const lines = [
    'import { createRequire } from "node:module";',
    `const required = createRequire(import.meta.url)(${JSON.stringify(path)});`,
    "export default required;",
    ...namesOf(code).map(
      (name, index) => `const n${index} = required.${name}; export { n${index} as ${name} };`,
    ),
  ];
  return { format: "module", source: lines.join("\n"), shortCircuit: true };
}

/** The usual ways to write an export of CommonJS, which is what Node recognises too. */
function namesOf(code: string): readonly string[] {
  const assigned = code.matchAll(/\bexports\.([A-Za-z_$][\w$]*)\s*=[^=]/g);
  const defined = code.matchAll(/\bdefineProperty\(exports,\s*["']([A-Za-z_$][\w$]*)["']/g);
  const listed = code.matchAll(/\bmodule\.exports\s*=\s*\{([^{}()]*)\}/g);
  const members = [...listed].flatMap(([, list = ""]) =>
    list.split(",").map((member) => /^\s*([A-Za-z_$][\w$]*)/.exec(member)?.[1] ?? ""),
  );
  const names = [...[...assigned, ...defined].map(([, name = ""]) => name), ...members];
  return [...new Set(names)].filter((name) => name !== "" && name !== "default");
}

/** Every name is written out, because the names of a module must be known before it runs. */
function apiModule(format: "module" | "commonjs"): Loaded {
  const names = Object.keys(api);
  const head = `const api = globalThis[Symbol.for(${JSON.stringify(API_KEY)})];`;
  const lines =
    format === "module"
      ? [...names.map((name) => `export const ${name} = api.${name};`), "export default api;"]
      : names.map((name) => `exports.${name} = api.${name};`);
  return { format, source: [head, ...lines].join("\n"), shortCircuit: true };
}

function pathOf(url: string | undefined): string | undefined {
  if (url === undefined || !url.startsWith("file:")) return undefined;
  return fileURLToPath(url);
}
