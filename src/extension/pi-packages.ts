/**
 * The running Pi's own packages, for the parts that Pi does not transpile. Pi
 * offers them only to what it transpiles itself, which is slow for all but a
 * small file: so the small file takes them, and the build lets the others find
 * them here.
 */

/** The same word is in the build script. */
const KEY = Symbol.for("pi-workflows.pi-packages");

export function offerPiPackages(packages: Readonly<Record<string, object>>): void {
  Reflect.set(globalThis, KEY, packages);
}
