import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { load } from "../../support/loader.ts";

const FOLDER = realpathSync(join(import.meta.dirname, "../../fixtures/workflows"));
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".workflow.ts"));

describe("the workflow files of the tests", () => {
  test.each(FILES)("%s loads without a problem or a warning", async (name) => {
    const cacheDir = mkdtempSync(join(tmpdir(), "cache-"));
    onTestFinished(() => rmSync(cacheDir, { recursive: true }));
    const request = { entryPath: join(FOLDER, name), projectDir: FOLDER, cacheDir };
    const { problems, warnings, graph } = await load(request);
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    expect(`${graph?.name}.workflow.ts`).toBe(name);
  });
});
