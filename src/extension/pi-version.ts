/** Which Pi this extension works with: it uses events that came with 1.6 and knows no Pi 2. */

const VERSION = /^(\d+)\.(\d+)\./;

/** One clear sentence; absent when this Pi will do. */
export function unsupportedPi(version: string | undefined): string | undefined {
  const found = VERSION.exec(version ?? "");
  const major = Number(found?.[1] ?? 0);
  const minor = Number(found?.[2] ?? 0);
  if (major === 1 && minor >= 6) return undefined;
  const what = found === null ? "a Pi whose version is not known" : `Pi ${version}`;
  const remedy =
    major > 1 ? "update pi-workflows, or use Pi 1.6 or a later 1.x" : "update Pi to 1.6 or later";
  return `pi-workflows does not work with ${what} and is switched off; ${remedy}`;
}
