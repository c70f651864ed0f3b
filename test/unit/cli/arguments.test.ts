import { describe, expect, test } from "vitest";
import { integer, parseArguments, UsageError } from "../../../src/cli/arguments.ts";
import type { Command } from "../../../src/cli/command.ts";
import { COMMANDS, findCommand } from "../../../src/cli/commands/index.ts";
import { parseDuration, parseInstant } from "../../../src/cli/times.ts";
import { parseJson, readValue } from "../../../src/cli/values.ts";
import { valueJson } from "../../../src/client/json-value.ts";

const command: Command = {
  description: "",
  positionals: [{ name: "RUN" }, { name: "JSON", optional: true }],
  options: {
    now: { type: "boolean", help: "" },
    status: { type: "string", multiple: true, help: "" },
    priority: { type: "string", value: "N", help: "" },
  },
  examples: [],
  run: () => Promise.reject(new Error("not run here")),
};

const usage = (argv: readonly string[]): string => {
  try {
    parseArguments(command, argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "no error";
};

describe("a command line", () => {
  test("is read in any order", () => {
    const args = parseArguments(command, ["--now", "run_1", "--status", "a", "--status=b", "{}"]);
    expect(args.positionals).toEqual(["run_1", "{}"]);
    expect(args.flag("now")).toBe(true);
    expect(args.list("status")).toEqual(["a", "b"]);
    expect(args.text("priority")).toBeUndefined();
  });

  test("takes what looks like an option after --", () => {
    expect(parseArguments(command, ["--", "--now"]).positionals).toEqual(["--now"]);
  });

  test.each([
    [[], "RUN is missing"],
    [["a", "b", "c"], '"c" is one argument too many'],
    [[""], "RUN is empty"],
    [["a", "--nwo"], "there is no option --nwo; did you mean --now?"],
    [["a", "--frobnicate"], "there is no option --frobnicate"],
    [["a", "-x"], "there is no option -x"],
    [
      ["a", "--priority"],
      "--priority needs a value: --priority N; one that begins with - is written --priority=N",
    ],
    [
      ["a", "--priority", "-5"],
      "--priority needs a value: --priority N; one that begins with - is written --priority=N",
    ],
    [["a", "--now=yes"], "Option '--now' does not take an argument"],
  ])("%j is refused: %s", (argv, message) => {
    expect(usage(argv)).toBe(message);
  });

  test("that asks for help needs nothing else", () => {
    expect(parseArguments(command, ["-h"]).flag("help")).toBe(true);
  });

  test("holds numbers within bounds only", () => {
    expect(integer("priority", "-5", { min: -100, max: 100 })).toBe(-5);
    for (const text of ["1.5", "", " 1", "1e2", "101", "-101", "NaN"]) {
      expect(() => integer("priority", text, { min: -100, max: 100 })).toThrow(
        `--priority must be a whole number from -100 to 100, not "${text}"`,
      );
    }
  });
});

describe("a command", () => {
  test.each([
    [["show", "run_1"], "show", ["run_1"]],
    [["--json", "list"], "list", ["--json"]],
    [["host", "status", "--json"], "host status", ["--json"]],
    [["effects"], "effects list", []],
    [["effects", "--all"], "effects list", ["--all"]],
    [["effects", "resolve", "eff_1"], "effects resolve", ["eff_1"]],
    [[], "help", []],
    [["--help"], "help", []],
    [["-h", "start"], "help", ["start"]],
    [["--version"], "version", []],
    [["host", "--help"], "help", ["host", "--help"]],
  ])("is found in %j", async (argv, name, rest) => {
    const found = await findCommand(argv);
    expect([found.name, found.rest]).toEqual([name, rest]);
  });

  test.each([
    [["shwo"], 'there is no command "shwo"; did you mean show?'],
    [["lits"], 'there is no command "lits"; did you mean list?'],
    [["frobnicate"], 'there is no command "frobnicate"'],
    [["../../x"], 'there is no command "../../x"'],
    [["constructor"], 'there is no command "constructor"'],
    [["host"], "host takes one of: start, status, stop, restart, run, logs"],
    [
      ["host", "stpo"],
      "host takes one of: start, status, stop, restart, run, logs; did you mean stop?",
    ],
  ])("is not found in %j", async (argv, message) => {
    await expect(findCommand(argv)).rejects.toThrow(new UsageError(message));
  });

  test.each(Object.keys(COMMANDS))("%s has examples that its own parser takes", async (name) => {
    const loaded = (await COMMANDS[name]?.load())?.command;
    expect(loaded?.examples.length).toBeGreaterThan(0);
    for (const [line] of loaded?.examples ?? []) {
      const words = shellWords(line);
      const found = await findCommand(words);
      expect(found.name).toBe(name);
      expect(() => parseArguments(found.command, found.rest)).not.toThrow();
    }
  });
});

describe("times", () => {
  test.each([
    ["90s", 90_000],
    ["500ms", 500],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["2d", 172_800_000],
    ["1w", 604_800_000],
    ["5min", 300_000],
    ["0s", 0],
  ])("%s is %d ms", (text, ms) => {
    expect(parseDuration("in", text)).toBe(ms);
  });

  test.each(["", "5", "s", "5 s", "-5s", "5y", "1h-5m", "1e3s"])("%j is no duration", (text) => {
    expect(() => parseDuration("in", text)).toThrow(UsageError);
  });

  test("are instants with a zone, local without one, or from now on", () => {
    expect(parseInstant("at", "2025-01-31T09:00Z", 0)).toBe(Date.UTC(2025, 0, 31, 9));
    expect(parseInstant("at", "2025-01-31T09:00:30+02:00", 0)).toBe(
      Date.UTC(2025, 0, 31, 7, 0, 30),
    );
    expect(parseInstant("at", "2025-01-31 09:00", 0)).toBe(new Date(2025, 0, 31, 9).getTime());
    expect(parseInstant("at", "+30m", 1_000)).toBe(1_801_000);
  });

  test.each(["2025-01-31", "tomorrow", "09:00", "2025-13-01T00:00", "1738314000", "+", "+500000w"])(
    "%j is no instant",
    (text) => {
      expect(() => parseInstant("at", text, Date.UTC(2025, 0, 1))).toThrow(UsageError);
    },
  );
});

describe("values", () => {
  test.each(["null", "false", "0", '""', "[]", '{"a":[1,{"b":null}]}', '"\\u0000"'])(
    "%s comes back as it was",
    (text) => {
      expect(valueJson(readValue("--input", text, "/"))).toEqual(JSON.parse(text));
    },
  );

  test("that are not JSON are refused in one line", () => {
    expect(() => parseJson("--input", "{a:1}")).toThrow(/^--input is not JSON: /);
    expect(() => parseJson("--input", "  ")).toThrow("--input is not JSON: it is empty");
    expect(() => parseJson("--input", "{\n\u001b[31m")).toThrow(/^[^\n\u001b]*$/);
  });

  test("that the wire cannot carry are refused", () => {
    expect(() => readValue("--input", "1e999", "/")).toThrow(/^--input cannot be sent: /);
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    expect(() => readValue("--input", deep, "/")).toThrow(UsageError);
  });

  test("are not read from a file that is not there", () => {
    expect(() => readValue("--input", "@missing.json", "/nowhere")).toThrow(
      /^--input cannot be read from missing.json: ENOENT/,
    );
  });
});

/** Words as a shell would make them, for lines without tricks; a redirection ends them. */
function shellWords(line: string): readonly string[] {
  const words: readonly string[] = line.match(/'[^']*'|"[^"]*"|[^\s]+/g) ?? [];
  const end = words.indexOf(">");
  return (end < 0 ? words : words.slice(0, end)).map((word) => word.replaceAll(/^['"]|['"]$/g, ""));
}
