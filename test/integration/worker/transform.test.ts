import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createTransformer, startEsbuild } from "../../../src/worker/definition/transform.ts";
import type { TransformInput } from "../../../src/worker/definition/transform.ts";

function input(text: string, path = "/project/a.ts"): TransformInput {
  return { path, digest: sha256Hex(text), bytes: Buffer.from(text) };
}

function cacheFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cache-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

afterAll(async () => {
  const transformer = createTransformer("/nowhere");
  await transformer.transform(input("1"));
  await transformer.stop();
});

describe("a transformed file", () => {
  test("is JavaScript with a source map of its own path", async () => {
    const transformer = createTransformer(cacheFolder());
    const code = await transformer.transform(input("enum E { A = 7 }\nexport const e: E = E.A;"));
    expect(code).toContain("export const e");
    expect(code).not.toContain(": E");
    const [, map = ""] = /base64,(.+)$/m.exec(code) ?? [];
    expect(JSON.parse(Buffer.from(map, "base64").toString())).toMatchObject({
      sources: ["/project/a.ts"],
    });
  });

  test("is kept for the same content at the same path, and for nothing else", async () => {
    const cacheDir = cacheFolder();
    const first = createTransformer(cacheDir);
    expect(first.cached(input("const a: 1 = 1;"))).toBeUndefined();
    const code = await first.transform(input("const a: 1 = 1;"));
    const second = createTransformer(cacheDir);
    expect(second.cached(input("const a: 1 = 1;"))).toBe(code);
    expect(second.transformNow(input("const a: 1 = 1;"))).toBe(code);
    expect(second.cached(input("const a: 2 = 2;"))).toBeUndefined();
    expect(second.cached(input("const a: 1 = 1;", "/project/b.ts"))).toBeUndefined();
  });

  test.each<[string, (intact: string) => string]>([
    ["empty", () => ""],
    ["cut", (intact) => intact.slice(0, -5)],
    ["altered", (intact) => intact.replace("const a", "const b")],
    ["without a line", () => "half"],
  ])("is not trusted when it is %s, and written anew", async (_name, damage) => {
    const cacheDir = cacheFolder();
    const transformer = createTransformer(cacheDir);
    const file = input("const a: 1 = 1;");
    await transformer.transform(file);
    const [name = "", ...others] = readdirSync(join(cacheDir, "transform"));
    expect(others).toEqual([]);
    const path = join(cacheDir, "transform", name);
    const intact = readFileSync(path, "utf8");
    writeFileSync(path, damage(intact));
    expect(transformer.cached(file)).toBeUndefined();
    await transformer.transform(file);
    expect(readFileSync(path, "utf8")).toBe(intact);
  });

  test("is no worse for a cache that cannot be written", async () => {
    const blocked = join(cacheFolder(), "file");
    writeFileSync(blocked, "");
    const code = await createTransformer(blocked).transform(input("const a: 1 = 1;"));
    expect(code).toContain("const a = 1;");
  });

  test("names line and column of what is wrong", async () => {
    const transformer = createTransformer(cacheFolder());
    await expect(transformer.transform(input("let = ;"))).rejects.toMatchObject({
      errors: [{ location: { line: 1 } }],
    });
    await expect(transformer.check(input("let x = ;", "/project/a.js"))).rejects.toMatchObject({
      errors: [{ location: { line: 1, column: 8 } }],
    });
    await expect(transformer.check(input("let x = 1;", "/project/a.js"))).resolves.toBeUndefined();
  });
});

describe.runIf(existsSync("/proc/self/task"))("the compiler's process", () => {
  test("that was started ahead ends with the load", async () => {
    const transformer = createTransformer(cacheFolder());
    await startEsbuild();
    expect(compilers()).toHaveLength(1);
    await transformer.stop();
    await untilNoCompiler();
  });

  test("that was ended from outside is replaced", async () => {
    const transformer = createTransformer(cacheFolder());
    await startEsbuild();
    process.kill(Number(compilers()[0]), "SIGKILL");
    await untilNoCompiler();
    expect(await transformer.transform(input("let x: 1 = 1;"))).toContain("let x = 1;");
    await transformer.stop();
  });
});

async function untilNoCompiler(): Promise<void> {
  await vi.waitFor(() => expect(compilers()).toEqual([]), { timeout: 10_000 });
}

/** Children of this process that are the compiler. */
function compilers(): readonly string[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8");
  return children
    .split(" ")
    .filter((pid) => pid !== "" && existsSync(`/proc/${pid}/cmdline`))
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--service="));
}
