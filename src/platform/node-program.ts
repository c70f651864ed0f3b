/** Which Node.js runs a host: this process is none when Pi came as a single program. */
import { programOnPath } from "./search-path.ts";

/** This process, as far as it matters here. */
export interface ProgramFacts {
  readonly execPath: string;
  /** True when the program is Node.js itself and not something built upon it. */
  readonly isNode: boolean;
  readonly path: string;
}

export type NodeProgram =
  | { readonly program: string }
  | { readonly program?: never; readonly problem: string };

/** A Node.js to start a host with, or why there is none. */
export function nodeProgram(facts: ProgramFacts = presentFacts()): NodeProgram {
  if (facts.isNode) return { program: facts.execPath };
  const found = programOnPath("node", facts.path);
  if (found !== undefined) return { program: found };
  const problem =
    "this Pi is a single program without Node.js, which a host needs; " +
    "install Node.js 22.19 or newer, so that `node` is found";
  return { problem };
}

function presentFacts(): ProgramFacts {
  return {
    execPath: process.execPath,
    isNode: process.versions["bun"] === undefined && !isSingleExecutable(),
    path: process.env["PATH"] ?? "",
  };
}

function isSingleExecutable(): boolean {
  return process.getBuiltinModule("node:sea").isSea();
}
