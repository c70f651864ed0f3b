/** Puts a deliberate defect into the source while it is loaded; the files stay as they are. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DEFECTS } from "./defects.ts";
import type { Edit } from "./defects.ts";

export const SOURCE = join(import.meta.dirname, "../../src");

/** Whatever is imported after this call is defective. */
export function plant(name: string): void {
  const defect = DEFECTS.find((one) => one.name === name);
  if (defect === undefined) {
    const names = DEFECTS.map((one) => one.name).join(", ");
    throw new Error(`there is no defect ${name}; there are: ${names}`);
  }
  const edits = defect.edits.map((edit) => ({ ...edit, url: urlOf(edit) }));
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const own = edits.filter((edit) => edit.url === url);
      if (own.length === 0) return loaded;
      // Node.js strips the types of what is returned here.
      return { ...loaded, source: own.reduce(edited, readFileSync(fileURLToPath(url), "utf8")) };
    },
  });
}

/** An edit that fits nowhere would leave the program sound, and the test of it without a meaning. */
export function edited(source: string, { file, find, replace }: Edit): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`"${find}" does not stand exactly once in ${file}`);
  }
  return `${before}${replace}${after}`;
}

function urlOf({ file }: Edit): string {
  return pathToFileURL(join(SOURCE, file)).href;
}
