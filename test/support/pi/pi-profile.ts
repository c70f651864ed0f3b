/**
 * A home for Pi that belongs to one test: its own settings, models, sessions,
 * project folder and temporary folder, and an environment that begins empty.
 * When the test ends nothing may run in it any more.
 */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { readStateHost } from "./state-host.ts";
import { expectNothingLeft } from "./pi-process-check.ts";
import type { MockModel } from "./mock-model.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PROGRAMS = join(ROOT, "node_modules/.bin");
export const PI_CLI = join(ROOT, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
/** Compiled code outlives a test: with it a Pi starts in half the time. */
const CACHE = join(ROOT, "node_modules/.cache/pi-tests");
const CACHES = ["jiti", "node-compile-cache"];

type Json = Readonly<Record<string, unknown>>;
type CleanUp = (run: () => Promise<void> | void) => void;

export interface PiProfileOptions {
  readonly model: Pick<MockModel, "baseUrl">;
  /** Over the settings below, key by key; `retry` and others that hold objects are replaced whole. */
  readonly settings?: Json;
  /** `settings.json` of our own host, in its state folder. */
  readonly hostSettings?: Json;
  readonly env?: Readonly<Record<string, string>>;
  readonly cleanUp?: CleanUp;
}

export interface PiProfile {
  readonly folder: string;
  /** Pi's own folder: settings, models, sessions. */
  readonly agentDir: string;
  /** Where the user's project lies; Pi starts in it. */
  readonly project: string;
  /** Where our host keeps its state. */
  readonly stateFolder: string;
  /** All of the environment of a Pi of this profile. */
  readonly env: Readonly<Record<string, string>>;
  /** Overrides some of Pi's settings; a running Pi reads them at its next start. */
  setSettings(settings: Json): void;
  /** Replaces the settings of our host; it reads them when it starts. */
  setHostSettings(settings: Json): void;
  /** Stores, as Pi's `/trust` does, that the project is trusted. */
  trustProject(): void;
  /** Writes a file of the project, with the folders it needs, and returns its path. */
  writeProjectFile(path: string, text: string): string;
}

export function newPiProfile(options: PiProfileOptions): PiProfile {
  const { cleanUp = onTestFinished } = options;
  // Short on purpose: the host's socket lies three folders below and its path is bounded.
  const folder = mkdtempSync(join(tmpdir(), "p-"));
  const profile = layOut(folder, options.env);
  writeJson(join(profile.agentDir, "models.json"), models(options.model.baseUrl));
  profile.setSettings({ ...SETTINGS, ...options.settings });
  if (options.hostSettings !== undefined) profile.setHostSettings(options.hostSettings);
  cleanUp(async () => {
    try {
      await readStateHost(profile.stateFolder)?.stop();
      await expectNothingLeft(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return profile;
}

const SETTINGS: Json = {
  defaultProvider: "mock",
  defaultModel: "scripted",
  defaultThinkingLevel: "off",
  quietStartup: true,
  enableInstallTelemetry: false,
  cacheWarming: "off",
  retry: { maxRetries: 1, baseDelayMs: 20 },
};

function layOut(folder: string, env: Readonly<Record<string, string>> = {}): PiProfile {
  const agentDir = join(folder, "agent");
  const project = join(folder, "project");
  const temporary = join(folder, "tmp");
  const stateFolder = join(agentDir, "workflows");
  for (const each of [agentDir, project, temporary]) mkdirSync(each);
  for (const name of CACHES) {
    mkdirSync(join(CACHE, name), { recursive: true });
    symlinkSync(join(CACHE, name), join(temporary, name));
  }
  return {
    folder,
    agentDir,
    project,
    stateFolder,
    env: { ...environment(folder), PI_CODING_AGENT_DIR: agentDir, TMPDIR: temporary, ...env },
    setSettings: (settings) => {
      const file = join(agentDir, "settings.json");
      writeJson(file, { ...readJson(file), ...settings });
    },
    setHostSettings: (settings) => {
      // As private as the host itself would make it; it refuses a folder that others can enter.
      mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
      writeJson(join(stateFolder, "settings.json"), settings);
    },
    trustProject: () => writeJson(join(agentDir, "trust.json"), { [realpathSync(project)]: true }),
    writeProjectFile: (path, text) => {
      const file = join(project, path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}

function environment(home: string): Readonly<Record<string, string>> {
  return {
    HOME: home,
    // The Node.js of this project and its `pi` come first, whatever the shell has.
    PATH: [PROGRAMS, process.env["PATH"] ?? ""].join(delimiter),
    LANG: "C.UTF-8",
    TZ: "UTC",
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    PI_TELEMETRY: "0",
  };
}

function models(baseUrl: string): Json {
  const model = { id: "scripted", input: ["text"], contextWindow: 200_000, maxTokens: 8192 };
  const mock = { baseUrl, api: "openai-completions", apiKey: "unused", models: [model] };
  return { providers: { mock } };
}

function writeJson(file: string, value: Json): void {
  writeFileSync(file, JSON.stringify(value, undefined, 2));
}

function readJson(file: string): Json {
  try {
    // Written by `writeJson`, or by Pi itself.
    return JSON.parse(readFileSync(file, "utf8")) as Json;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
