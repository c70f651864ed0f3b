// Before a held run may go on, its files are looked at: what would only block it is refused.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/host/errors.ts";
import type { RunRecord, SourceWithContent } from "../../src/host/records.ts";
import { requireRecordedFiles } from "../../src/host/source-check.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { admission, TestRig } from "../support/test-host.ts";
import { temporaryFolder } from "../support/test-store.ts";

const FILE = "export default 1;\n";

class Recorded {
  readonly folder = temporaryFolder();
  readonly file = join(this.folder, "hub.workflow.ts");
  readonly helper = join(this.folder, "lib/helper.ts");
  readonly package = join(this.folder, "node_modules/left-pad");
  readonly rig = new TestRig();

  /** A run that has recorded two files and a package, as it is when it is held. */
  async run(change: Partial<RunRecord> = {}): Promise<RunRecord> {
    for (const path of [join(this.folder, "lib"), this.package])
      mkdirSync(path, { recursive: true });
    writeFileSync(this.file, FILE);
    writeFileSync(this.helper, FILE);
    this.manifest({ version: "1.3.0" });
    const sources: SourceWithContent[] = [
      ...[this.file, this.helper].map(fileSource),
      packageSource(this.package),
    ];
    const runId = await this.rig.admit({ ...admission(), sources });
    return { ...this.rig.run(runId), status: "paused", ...change };
  }

  manifest(content: unknown): void {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(join(this.package, "package.json"), text);
  }

  async check(run: RunRecord): Promise<void> {
    await requireRecordedFiles(this.rig.reader, run);
  }

  /** What the refusal says and names. */
  async refusal(run: RunRecord): Promise<{ message: string; names: readonly string[] }> {
    const error = await this.check(run).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof HostError) || error.reason !== "SOURCE_CHANGED") throw error;
    const { message, details } = error;
    if (details.runId !== run.runId) throw new Error("the refusal names another run");
    return { message, names: details.names ?? [] };
  }
}

function fileSource(path: string): SourceWithContent {
  const content = new TextEncoder().encode(FILE);
  return { path, kind: "file", size: content.length, digest: sha256Hex(FILE), content };
}

function packageSource(path: string): SourceWithContent {
  return { path, kind: "package", size: 0, packageName: "left-pad", packageVersion: "1.3.0" };
}

describe("a held run", () => {
  test("whose files are as recorded may go on", async () => {
    const recorded = new Recorded();
    await expect(recorded.check(await recorded.run())).resolves.toBeUndefined();
  });

  test.each(["paused", "blocked"] as const)(
    "that is %s is refused a changed file",
    async (status) => {
      const recorded = new Recorded();
      const run = await recorded.run({ status });
      writeFileSync(recorded.helper, `${FILE}// edited\n`);
      expect(await recorded.refusal(run)).toEqual({
        message: `${recorded.helper} has changed; run ${run.runId} recorded other ones, so say what it shall run`,
        names: [recorded.helper],
      });
    },
  );

  test("may go on again when a file was put back", async () => {
    const recorded = new Recorded();
    const run = await recorded.run();
    writeFileSync(recorded.file, "");
    await recorded.refusal(run);
    writeFileSync(recorded.file, FILE);
    await expect(recorded.check(run)).resolves.toBeUndefined();
  });

  test.each([
    ["is gone", (path: string) => rmSync(path)],
    [
      "is a folder now",
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])("is refused a file that %s", async (_name, spoil) => {
    const recorded = new Recorded();
    const run = await recorded.run();
    spoil(recorded.file);
    const { message, names } = await recorded.refusal(run);
    expect(message).toContain(`${recorded.file} is missing or cannot be read;`);
    expect(names).toEqual([recorded.file]);
  });

  test.each([
    ["another version", { version: "1.3.1" }, "package left-pad is version 1.3.1, not 1.3.0"],
    ["no version", {}, "package left-pad is version , not 1.3.0"],
    ["a manifest that is null", null, "package left-pad is version , not 1.3.0"],
    ["a manifest that is no JSON", "{", "node_modules/left-pad is missing or cannot be read"],
  ])("is refused a package with %s", async (_name, content, words) => {
    const recorded = new Recorded();
    const run = await recorded.run();
    recorded.manifest(content);
    const { message, names } = await recorded.refusal(run);
    expect(message).toContain(words);
    expect(names).toEqual([recorded.package]);
  });

  test("does not ask what else lies in a package", async () => {
    const recorded = new Recorded();
    const run = await recorded.run();
    writeFileSync(join(recorded.package, "index.js"), "edited");
    await expect(recorded.check(run)).resolves.toBeUndefined();
  });

  test("is told all differences at once, in the order of the record", async () => {
    const recorded = new Recorded();
    const run = await recorded.run();
    writeFileSync(recorded.file, "other");
    rmSync(recorded.helper);
    recorded.manifest({ version: "2.0.0" });
    const { names } = await recorded.refusal(run);
    expect(names.toSorted()).toEqual([recorded.file, recorded.helper, recorded.package].toSorted());
    expect(names).toEqual(recorded.rig.reader.sources.ofRun(run.runId).map(({ path }) => path));
  });
});

describe("changed files are nobody's business", () => {
  test.each<[string, Partial<RunRecord>]>([
    ["while the run waits", { status: "waiting" }],
    ["while the run is queued", { status: "queued" }],
    ["when the run uses what it has recorded", { useRecorded: true }],
    ["when a blocked run uses what it has recorded", { status: "blocked", useRecorded: true }],
  ])("%s", async (_name, change) => {
    const recorded = new Recorded();
    const run = await recorded.run(change);
    rmSync(recorded.file);
    await expect(recorded.check(run)).resolves.toBeUndefined();
  });
});
