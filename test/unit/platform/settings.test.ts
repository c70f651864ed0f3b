import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  packageVersion,
  readSettings,
  SETTING_KEYS,
  SETTING_RULES,
  SettingsError,
  settingVariable,
} from "../../../src/platform/settings.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "settings-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("settings", () => {
  test("are the defaults when nobody says otherwise", () => {
    const settings = readSettings(folder, {});
    expect(settings).toMatchObject({ capacity: 4, spares: 2, idleMs: 600_000, claimMs: 30_000 });
    expect(settings).toMatchObject({ headlessPis: 2, piCommand: "" });
    expect(Object.keys(settings).toSorted()).toEqual([...SETTING_KEYS].toSorted());
  });

  test("come from the file, and from the environment before that", () => {
    write('{ "capacity": 8, "spares": 0 }');
    const settings = readSettings(folder, { PI_WORKFLOWS_CAPACITY: "16" });
    expect(settings).toMatchObject({ capacity: 16, spares: 0 });
  });

  test("are not changed by an empty variable", () => {
    expect(readSettings(folder, { PI_WORKFLOWS_CAPACITY: "" }).capacity).toBe(4);
  });

  test("have variables named after them", () => {
    expect(settingVariable("workerMemoryMb")).toBe("PI_WORKFLOWS_WORKER_MEMORY_MB");
  });

  test("may name a program, as text only", () => {
    write('{ "piCommand": "/opt/pi/bin/pi" }');
    expect(readSettings(folder, {}).piCommand).toBe("/opt/pi/bin/pi");
    expect(readSettings(folder, { PI_WORKFLOWS_PI_COMMAND: "pi-dev" }).piCommand).toBe("pi-dev");
    for (const value of [1, null, ["pi"], "p".repeat(4_097)]) {
      write(JSON.stringify({ piCommand: value }));
      expect(refusal({}).key).toBe("piCommand");
    }
  });

  test.each(Object.keys(SETTING_RULES) as (keyof typeof SETTING_RULES)[])(
    "%s is taken at its bounds and refused beyond",
    (key) => {
      const { min, max } = SETTING_RULES[key];
      // Claims and renewals bound each other, which has a test of its own.
      const base = key === "renewMs" ? { claimMs: 86_400_000 } : { renewMs: 100 };
      for (const value of key === "renewMs" ? [min] : [min, max]) {
        write(JSON.stringify({ ...base, [key]: value }));
        expect(readSettings(folder, {})[key]).toBe(value);
      }
      for (const value of [min - 1, max + 1, 1.5, "4", null, true]) {
        write(JSON.stringify({ ...base, [key]: value }));
        expect(refusal({}).key).toBe(key);
      }
    },
  );

  test.each([
    ["{", "", "is not JSON"],
    ["[]", "", "must hold a JSON object"],
    ["null", "", "must hold a JSON object"],
    ['{ "capasity": 4 }', "capasity", "is no setting"],
    ['{ "__proto__": 4 }', "__proto__", "is no setting"],
    ['{ "claimMs": 3000, "renewMs": 1501 }', "renewMs", "at most half of claimMs (3000)"],
  ])("in a file %s are refused, naming the file and the key", (text, key, problem) => {
    write(text);
    const error = refusal({});
    expect(error.message).toContain(join(folder, "settings.json"));
    expect(error.key).toBe(key);
    expect(error.message).toContain(problem);
  });

  test("in a wrong variable are refused by its name", () => {
    const error = refusal({ PI_WORKFLOWS_CAPACITY: "many" });
    expect(error.message).toBe(
      "the environment: PI_WORKFLOWS_CAPACITY: must be a whole number from 1 to 64",
    );
  });
});

test("the version is the package's", () => {
  expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
});

function write(text: string): void {
  writeFileSync(join(folder, "settings.json"), text);
}

function refusal(env: NodeJS.ProcessEnv): SettingsError {
  try {
    readSettings(folder, env);
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
  throw new Error("the settings were taken");
}
