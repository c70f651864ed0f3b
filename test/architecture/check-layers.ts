import type { SourceImport } from "./source-tree.ts";

type Layers = Readonly<Record<string, readonly string[]>>;

/** Why `file` may not import what it imports; empty when it may. */
export function layerViolations(
  layers: Layers,
  file: string,
  imports: readonly SourceImport[],
): readonly string[] {
  const row = rowOf(layers, file);
  if (row === undefined) return [`${file} lies in no row of the layer table`];
  const allowed = [row, ...(layers[row] ?? [])];
  return imports
    .filter((one) => !allowed.some((entry) => allows(entry, one)))
    .map((one) => `${file} imports ${one.typeOnly ? "types of " : ""}${one.target}`);
}

function rowOf(layers: Layers, file: string): string | undefined {
  return Object.keys(layers)
    .filter((row) => covers(row, file))
    .toSorted((left, right) => right.length - left.length)[0];
}

function allows(entry: string, { target, typeOnly }: SourceImport): boolean {
  if (!entry.startsWith("type:")) return covers(entry, target);
  return typeOnly && covers(entry.slice("type:".length), target);
}

function covers(entry: string, path: string): boolean {
  if (entry.endsWith("*")) return path.startsWith(entry.slice(0, -1));
  return path === entry || path.startsWith(`${entry}/`);
}
