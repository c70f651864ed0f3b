/**
 * What Pi's own settings say: whether Pi loads this package by itself, and its
 * model. Two copies of one extension stop Pi, and without any the host's Pi
 * cannot attach, so the host has to know.
 */
import { readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { readJsonObject } from "../../platform/json-file.ts";
import { PACKAGE_NAME } from "../../platform/package-info.ts";
import { storedTrust } from "../../platform/pi-trust.ts";
import type { ModelRecord } from "../records-sessions.ts";

export interface PiPlaces {
  /** Pi's own folder. */
  readonly agentDir: string;
  /** Where the Pi will work. */
  readonly projectDir: string;
}

/** Real path of the copy that Pi's settings or folders name; absent when they name none. */
export function configuredCopy({ agentDir, projectDir }: PiPlaces): string | undefined {
  const settings = readSettings(agentDir);
  const ofUser = copyIn(agentDir, settings);
  // Pi reads a project's settings only where the project is trusted.
  if (ofUser !== undefined || !isTrusted(projectDir, agentDir, settings)) return ofUser;
  const own = join(projectDir, ".pi");
  return copyIn(own, readSettings(own));
}

/**
 * The model that Pi's settings name. A session that is opened again goes on with
 * the model it had, which may be that of an earlier step, so Pi has to be told.
 */
export function defaultModel({ agentDir, projectDir }: PiPlaces): ModelRecord | undefined {
  const ofUser = readSettings(agentDir);
  const trusted = isTrusted(projectDir, agentDir, ofUser);
  const settings = trusted ? { ...ofUser, ...readSettings(join(projectDir, ".pi")) } : ofUser;
  const { defaultProvider: provider, defaultModel: model } = settings;
  if (typeof provider !== "string" || typeof model !== "string") return undefined;
  return { provider, model, args: [] };
}

interface Settings {
  readonly packages?: unknown;
  readonly extensions?: unknown;
  readonly defaultProjectTrust?: unknown;
  readonly defaultProvider?: unknown;
  readonly defaultModel?: unknown;
}

/** In one of Pi's folders: among its packages, its named extensions, or the ones that lie there. */
function copyIn(folder: string, { packages, extensions }: Settings): string | undefined {
  const candidates = [
    ...texts(packages).flatMap((source) => placesOf(source, folder)),
    ...texts(extensions).map((path) => localPath(path, folder)),
    ...entriesOf(join(folder, "extensions")),
  ];
  return candidates.map(packageAt).find((found) => found !== undefined);
}

/** Where Pi keeps a package, by the kind of its source. */
function placesOf(source: string, folder: string): readonly string[] {
  const npm = /^npm:(@?[^@]+)/.exec(source)?.[1];
  if (npm !== undefined) return [join(folder, "npm", "node_modules", npm)];
  if (/^(git:|https?:|ssh:)/.test(source)) return gitPackages(join(folder, "git"));
  return [localPath(source, folder)];
}

/** They lie in folders named after host, owner and repository. */
function gitPackages(folder: string): readonly string[] {
  return entriesOf(folder).flatMap(entriesOf).flatMap(entriesOf);
}

function localPath(path: string, folder: string): string {
  if (path.startsWith("~/")) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? path : resolve(folder, path);
}

/** The real path of this package where the path leads into a copy of it. */
function packageAt(path: string): string | undefined {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    // Pi passes over what is missing, too.
    return undefined;
  }
  for (let folder = real; dirname(folder) !== folder; folder = dirname(folder)) {
    const name = readJsonObject(join(folder, "package.json"))["name"];
    if (name !== undefined) return name === PACKAGE_NAME ? folder : undefined;
  }
  return undefined;
}

/** As Pi decides without a user: what is stored for the folder or one above, else its default. */
function isTrusted(projectDir: string, agentDir: string, settings: Settings): boolean {
  return storedTrust(projectDir, agentDir) ?? settings.defaultProjectTrust === "always";
}

function readSettings(folder: string): Settings {
  return readJsonObject(join(folder, "settings.json"));
}

/** A package may stand there as a text or as an object with a source. */
function texts(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list
    .map((entry: unknown) =>
      typeof entry === "object" && entry !== null && "source" in entry ? entry.source : entry,
    )
    .filter((entry) => typeof entry === "string");
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
