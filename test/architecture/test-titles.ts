/** Titles of tests, as vitest itself reads them from their files without running them. */
import { join } from "node:path";
import { createVitest } from "vitest/node";
import { ROOT } from "./source-tree.ts";

/** Of each file, the titles of its tests, each after those of its groups. */
export async function titlesOf(
  files: readonly string[],
): Promise<ReadonlyMap<string, readonly (readonly string[])[]>> {
  const vitest = await createVitest("test", { root: ROOT, watch: false, reporters: [] });
  try {
    const wanted = new Set(files.map((file) => join(ROOT, file)));
    const all = await vitest.globTestSpecifications();
    const modules = await vitest.parseSpecifications(
      all.filter(({ moduleId }) => wanted.has(moduleId)),
    );
    return new Map(
      modules.map(({ moduleId, children }) => [
        moduleId.slice(ROOT.length + 1),
        [...children.allTests()].map(({ fullName }) => fullName.split(" > ")),
      ]),
    );
  } finally {
    await vitest.close();
  }
}
