import { sep } from "node:path";
import { pathToFileURL } from "node:url";
import { needsTransform } from "./transform.ts";
import type { Transformer } from "./transform.ts";
import { formatOf, readProjectFile } from "./project-file.ts";
import type { ModuleFormat, ProjectFile, Recorded } from "./project-file.ts";
import { packageRootOf, packageSourceOf } from "./sources.ts";
import type { SourceRecord } from "./sources.ts";

/** A project file with the code that is evaluated in its place. */
export interface PreparedFile extends ProjectFile {
  readonly code: string;
  readonly format: ModuleFormat;
  /** Whether Node would read the same code by itself. */
  readonly isAsOnDisk: boolean;
}

/** An import that could not be resolved, kept to tell the author where it stands. */
export interface FailedImport {
  readonly specifier: string;
  readonly importer: string;
  readonly error: unknown;
}

/** Everything that belongs to the loading of one workflow, for as long as its process lives. */
export class LoadSession {
  readonly entry: string;
  readonly projectDir: string;
  readonly recorded: Recorded;
  readonly transformer: Transformer;
  readonly sources: SourceRecord[] = [];
  readonly failures: FailedImport[] = [];
  readonly #onSource: (source: SourceRecord) => void;
  readonly #prepared = new Map<string, PreparedFile>();
  readonly #told = new Set<string>();

  constructor(options: {
    readonly entry: string;
    readonly projectDir: string;
    readonly recorded: Recorded;
    readonly transformer: Transformer;
    readonly onSource: (source: SourceRecord) => void;
  }) {
    this.entry = options.entry;
    this.projectDir = options.projectDir;
    this.recorded = options.recorded;
    this.transformer = options.transformer;
    this.#onSource = options.onSource;
  }

  get entryUrl(): string {
    return pathToFileURL(this.entry).href;
  }

  /** Whether a file is part of the workflow: only what such a file imports is resolved here. */
  holds(path: string): boolean {
    return this.#told.has(packageRootOf(path) ?? path);
  }

  /** Whether the run's own copy of a file is used, so that the disk need not have it any more. */
  hasRecordedBytes(path: string): boolean {
    const source = this.recorded.source(path);
    return source !== undefined && this.recorded.bytes?.(source.digest) !== undefined;
  }

  prepared(path: string): PreparedFile | undefined {
    return this.#prepared.get(path);
  }

  allPrepared(): readonly PreparedFile[] {
    return [...this.#prepared.values()];
  }

  /** Reads and transforms ahead of the import, many files at once. */
  async prepare(path: string): Promise<PreparedFile> {
    const file = readProjectFile(path, this.recorded);
    if (!needsTransform(path)) return this.#keep(file, textOf(file));
    const { transformer } = this;
    return this.#keep(file, transformer.cached(file) ?? (await transformer.transform(file)));
  }

  /** The same at the moment of the import, for what only the running code could name. */
  prepareNow(path: string): PreparedFile {
    const ready = this.#prepared.get(path);
    if (ready !== undefined) return ready;
    const file = readProjectFile(path, this.recorded);
    const code = needsTransform(path) ? this.transformer.transformNow(file) : textOf(file);
    return this.#keep(file, code);
  }

  /** Records what is about to be loaded: a file by its bytes, a package by its version. */
  record(path: string): void {
    const root = packageRootOf(path);
    if (this.#told.has(root ?? path)) return;
    const source = packageSourceOf(path) ?? fileSource(this.prepareNow(path));
    this.#told.add(root ?? path);
    this.sources.push(source);
    this.#onSource(source);
  }

  isInProject(path: string): boolean {
    return path.startsWith(this.projectDir + sep);
  }

  #keep(file: ProjectFile, code: string): PreparedFile {
    const { path, isFromDisk } = file;
    const isAsOnDisk = isFromDisk && !needsTransform(path);
    const prepared = { ...file, code, format: formatOf(path, code), isAsOnDisk };
    this.#prepared.set(file.path, prepared);
    return prepared;
  }
}

function fileSource({ path, digest, bytes }: ProjectFile): SourceRecord {
  return { path, kind: "file", digest, size: bytes.length, bytes };
}

function textOf({ bytes }: ProjectFile): string {
  return new TextDecoder().decode(bytes);
}
