/** Which Pi this extension works with, in words for whoever has another one. */
import { piFitness } from "../platform/pi-version.ts";

/** One clear sentence; absent when this Pi will do. */
export function unsupportedPi(version: string | undefined): string | undefined {
  const fitness = piFitness(version);
  if (fitness === "fits") return undefined;
  const what = fitness === "unknown" ? "a Pi whose version is not known" : `Pi ${version}`;
  const remedy =
    fitness === "too_new"
      ? "update pi-workflows, or use Pi 1.6 or a later 1.x"
      : "update Pi to 1.6 or later";
  return `pi-workflows does not work with ${what} and is switched off; ${remedy}`;
}
