/**
 * Reads a repository's history, finds what changed most, asks whether to write
 * the report, and writes it. `npm run demo` runs it over this repository.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  action,
  checkpoint,
  compute,
  defineWorkflow,
  idempotentEffect,
  NonRetryableError,
  shell,
} from "pi-workflows";

interface Input {
  /** A revision range or a revision, as `git log` takes it. */
  readonly range: string;
  /** File to write, relative to the project directory. */
  readonly report: string;
  /** How many files the report names. */
  readonly top: number;
}

interface Commit {
  readonly id: string;
  readonly author: string;
  readonly day: string;
  readonly subject: string;
  readonly files: readonly { readonly path: string; readonly lines: number }[];
}

interface Outputs {
  readonly collect: { readonly commits: readonly Commit[] };
  readonly analyse: {
    readonly commits: number;
    readonly days: number;
    readonly lines: number;
    readonly busiest: readonly { readonly path: string; readonly lines: number }[];
  };
  readonly render: { readonly markdown: string };
  readonly approve: { readonly write: boolean };
  readonly [node: string]: unknown;
}

export default defineWorkflow<Input, Outputs>({
  name: "history-report",
  title: ({ input }) => `history of ${input.range}`,
  input: parseInput,
  startAt: "collect",
  nodes: {
    collect: shell({
      statusDetail: "reading the history",
      effect: idempotentEffect("git.log"),
      exec: ({ input }) => ({
        command: "git",
        args: [
          "log",
          "--numstat",
          "--date=short",
          "--format=%x1e%h%x1f%an%x1f%ad%x1f%s",
          input.range,
        ],
        maxOutputChars: 5_000_000,
      }),
      parse: ({ stdout }) => ({ commits: parseLog(stdout) }),
    }),
    analyse: compute<Input, Outputs>({
      statusDetail: "counting",
      run: ({ input, outputs }) => analyse(outputs.collect.commits, input.top),
    }),
    render: compute<Input, Outputs>({
      run: ({ input, outputs }) => ({ markdown: render(input, outputs) }),
    }),
    approve: checkpoint<Input, Outputs>({
      summary: ({ input, outputs }) =>
        `Write the report on ${outputs.analyse.commits} commits to ${input.report}?`,
      run: ({ outputs }) => ({ preview: outputs.render.markdown }),
      schema: {
        type: "object",
        properties: { write: { type: "boolean" } },
        required: ["write"],
        additionalProperties: false,
      },
      timeoutMs: 3_600_000,
    }),
    write: action<Input, Outputs>({
      statusDetail: "writing the report",
      // Writing the same bytes again does no harm.
      effect: idempotentEffect("report.write"),
      run: async ({ input, outputs, run }) => {
        const file = resolve(run.projectDir, input.report);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, outputs.render.markdown);
        return { written: file, ...outputs.analyse };
      },
    }),
    skip: compute<Input, Outputs>({
      run: ({ outputs }) => ({ written: null, ...outputs.analyse }),
    }),
  },
  edges: [
    { from: "collect", to: "analyse" },
    { from: "analyse", to: "render" },
    { from: "render", to: "approve" },
    { from: "approve", switch: { on: "$.write", cases: { true: "write", false: "skip" } } },
  ],
});

function parseInput(value: unknown): Input {
  const { range = "HEAD", report = "history.md", top = 10 } = (value ?? {}) as Partial<Input>;
  // A range that begins with a dash would be taken for an option.
  if (!isText(range) || range.startsWith("-"))
    throw new TypeError("range must be a revision or a range of revisions");
  if (!isText(report)) throw new TypeError("report must be a file name");
  if (!Number.isInteger(top) || top < 1) throw new TypeError("top must be a whole number from 1");
  return { range, report, top };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function parseLog(stdout: string): Commit[] {
  const commits = stdout.split("\u001E").slice(1).map(parseCommit);
  if (commits.length === 0) throw new NonRetryableError("the range holds no commit");
  return commits;
}

function parseCommit(record: string): Commit {
  const [head = "", ...lines] = record.split("\n");
  const [id = "", author = "", day = "", subject = ""] = head.split("\u001F");
  return { id, author, day, subject, files: lines.filter((line) => line !== "").map(parseFile) };
}

/** A line such as `12<tab>3<tab>src/a.ts`; binary files have dashes for numbers. */
function parseFile(line: string): { path: string; lines: number } {
  const [added = "", removed = "", path = ""] = line.split("\t");
  return { path, lines: (Number(added) || 0) + (Number(removed) || 0) };
}

function analyse(commits: readonly Commit[], top: number): Outputs["analyse"] {
  const byPath = new Map<string, number>();
  for (const { path, lines } of commits.flatMap(({ files }) => files))
    byPath.set(path, (byPath.get(path) ?? 0) + lines);
  const busiest = [...byPath]
    .map(([path, lines]) => ({ path, lines }))
    .toSorted((a, b) => b.lines - a.lines || a.path.localeCompare(b.path));
  return {
    commits: commits.length,
    days: new Set(commits.map(({ day }) => day)).size,
    lines: busiest.reduce((sum, { lines }) => sum + lines, 0),
    busiest: busiest.slice(0, top),
  };
}

function count(things: number, noun: string): string {
  return `${things} ${noun}${things === 1 ? "" : "s"}`;
}

function render(input: Input, { collect, analyse: facts }: Outputs): string {
  const rows = facts.busiest.map(({ path, lines }) => `| ${path} | ${lines} |`);
  const subjects = collect.commits
    .slice(0, input.top)
    .map(({ id, subject }) => `- ${id} ${subject}`);
  return [
    `# History of ${input.range}`,
    "",
    `${count(facts.commits, "commit")} on ${count(facts.days, "day")} changed ${count(facts.lines, "line")}.`,
    "",
    "| file | changed lines |",
    "| --- | --- |",
    ...rows,
    "",
    "Newest:",
    "",
    ...subjects,
    "",
  ].join("\n");
}
