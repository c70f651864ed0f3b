import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandHelp } from "../../../src/cli/commands/help.ts";
import { COMMANDS } from "../../../src/cli/commands/index.ts";
import { ExitCode } from "../../../src/cli/exit-codes.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/cli.md"), "utf8");
const SECTIONS = PAGE.split(/^(?=###? )/m);

/** The section whose heading names the command. */
const sectionOf = (name: string): string | undefined =>
  SECTIONS.find((section) => new RegExp(`^### .*\`${name}(?: [^\`]*)?\``).test(section));

describe("docs/cli.md", () => {
  test.each(Object.keys(COMMANDS))("has %s with all its options", async (name) => {
    const section = sectionOf(name) ?? "";
    const { command } = (await COMMANDS[name]?.load()) ?? {};
    const missing = Object.keys(command?.options ?? {})
      .filter((option) => !watched(name).includes(option))
      .filter((option) => !section.includes(`--${option}`));
    expect({ section: section !== "", missing }).toEqual({ section: true, missing: [] });
  });

  test("has every exit code", () => {
    const codes = [...PAGE.matchAll(/^\|\s+(\d+)\s+\|/gm)].map(([, code]) => Number(code));
    expect(codes.toSorted((left, right) => left - right)).toEqual([...Object.values(ExitCode), 78]);
  });

  test("has the JSON of every command", () => {
    const table = SECTIONS.find((section) => section.startsWith("## JSON")) ?? "";
    const silent = new Set(["completion", "host run"]); // what they print is no result
    const missing = Object.keys(COMMANDS)
      .filter((name) => !silent.has(name))
      .filter((name) => !new RegExp(`^\\|.*\`${name}\``, "m").test(table));
    expect(missing).toEqual([]);
  });
});

describe("the help of an option", () => {
  test.each(Object.keys(COMMANDS))("of %s says once that it may be repeated", async (name) => {
    const { command } = (await COMMANDS[name]?.load()) ?? {};
    if (command === undefined) throw new Error(`no command ${name}`);
    const lines = commandHelp(name, command, (_format, text) => text);
    expect(lines.filter((line) => /repeated.*repeated/.test(line))).toEqual([]);
  });
});

/** `start` takes the options of `watch`, which are described there. */
function watched(name: string): readonly string[] {
  return name === "start" ? ["timeout", "stay"] : [];
}
