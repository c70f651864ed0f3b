// Twelve contradictions made by hand in the rows of a host that runs, looked at and mended as a person
// does it. Each is found by its name; mended is exactly what the rows prove.
import { copyFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../support/cli-process.ts";
import { newStateFolder, startRealHost } from "../support/real-host.ts";
import { hasTerminal, NEEDS_TERMINAL, Terminal } from "../support/terminal.ts";
import { TestRig } from "../support/test-host.ts";
import { TWELVE } from "../support/twelve-wrecks.ts";
import { vandalise } from "../support/vandal.ts";
import type { StatePaths } from "../../src/platform/state-folder.ts";

/** The runs are of a day long ago, and no sweep shall take them. */
const KEEP_ALL = { PI_WORKFLOWS_RETENTION_DAYS: "36500", PI_WORKFLOWS_SPARES: "0" };
const WRONG = 3;

interface Patient {
  readonly paths: StatePaths;
  /** Names by run. */
  readonly names: ReadonlyMap<string, string>;
}

/** A host with all twelve. */
async function wreckedHost(): Promise<Patient> {
  const rig = new TestRig();
  const names = new Map<string, string>();
  for (const [name, { arrange }] of Object.entries(TWELVE)) names.set(await arrange(rig), name);
  rig.at.store.close();
  const folder = newStateFolder();
  copyFileSync(rig.at.path, `${folder}/host.db`);
  const { paths } = await startRealHost({ folder, env: KEEP_ALL });
  for (const [runId, name] of names) vandalise(paths.database, runId, TWELVE[name]?.sql ?? []);
  return { paths, names };
}

/** Name of the contradiction and of the invariant, for every line that begins so. */
function told({ names }: Patient, text: string, word: string): readonly string[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith(word))
    .flatMap((line) => {
      const [, runId = "", invariant = ""] = /(run_\w+): .*?\[(\w+)\]/.exec(line) ?? [];
      return runId === "" ? [] : [`${names.get(runId)}: ${invariant}`];
    })
    .toSorted();
}

/** All twelve, as they must be told. */
function expected(which: "mended" | "remaining"): readonly string[] {
  return Object.entries(TWELVE)
    .flatMap(([name, wreck]) => wreck[which].map((invariant) => `${name}: ${invariant}`))
    .toSorted();
}

function rowsOf({ paths }: Patient): unknown {
  const db = new Database(paths.database, { readonly: true });
  onTestFinished(() => void db.close());
  const all = (table: string): unknown => db.prepare(`SELECT * FROM ${table}`).all();
  return ["runs", "events", "attempts", "claims", "interactions", "effects", "messages"].map(all);
}

describe("doctor, with twelve contradictions", () => {
  test("finds each by its name, mends what is proven, and then finds nothing more to mend", async () => {
    const patient = await wreckedHost();
    const before = rowsOf(patient);
    const looked = await runCli(patient, "doctor");
    expect(looked.code).toBe(WRONG);
    expect(told(patient, looked.stdout, "wrong")).toEqual(
      [...expected("mended"), ...expected("remaining")].toSorted(),
    );
    expect(rowsOf(patient)).toEqual(before);

    const mended = await runCli(patient, "doctor", "--repair", "--yes");
    expect(mended.code).toBe(WRONG);
    expect(told(patient, mended.stdout, "mended")).toEqual(expected("mended"));
    expect(told(patient, mended.stdout, "wrong")).toEqual(expected("remaining"));
    const words = mended.stdout.split("\n").map((line) => line.split(/ +/)[0]);
    expect(words.filter((word) => word === "plan")).toHaveLength(expected("mended").length);
    expect(words.lastIndexOf("plan")).toBeLessThan(words.indexOf("mended"));

    const settled = rowsOf(patient);
    const again = await runCli(patient, "doctor", "--repair", "--yes", "--json");
    expect(again.code).toBe(WRONG);
    expect(JSON.parse(again.stdout)).toMatchObject({ repaired: [] });
    expect(rowsOf(patient)).toEqual(settled);
  });

  test.skipIf(!hasTerminal())(`shows its plan before it asks (${NEEDS_TERMINAL})`, async () => {
    const patient = await wreckedHost();
    const before = rowsOf(patient);
    const terminal = new Terminal(patient, "doctor --repair");
    await terminal.shows(`Do that (${expected("mended").length} repairs)? [y/N] `);
    const plan = terminal.text.split("\n").filter((line) => line.startsWith("plan "));
    expect(plan).toHaveLength(expected("mended").length);
    terminal.type("n\r");
    expect(await terminal.exitCode()).toBe(WRONG);
    expect(rowsOf(patient)).toEqual(before);
  });
});
