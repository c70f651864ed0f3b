import { describe, expect, test } from "vitest";
import { abiMismatch, failureLine } from "../../../src/client/host-error.ts";

const MISMATCH = `node:internal/modules/cjs/loader:1920
  return process.dlopen(module, path.toNamespacedPath(filename));
                 ^

Error: The module '/x/better_sqlite3.node'
was compiled against a different Node.js version using
NODE_MODULE_VERSION 115. This version of Node.js requires
NODE_MODULE_VERSION 127. Please try re-compiling or re-installing
the module (for instance, using \`npm rebuild\` or \`npm install\`).
    at Module._extensions..node (node:internal/modules/cjs/loader:1920:18) {
  code: 'ERR_DLOPEN_FAILED'
}

Node.js v22.23.3
`;

describe("the line that says why a host failed", () => {
  test("is the last one of a host that speaks", () => {
    expect(failureLine("starting\n/x/host.db: is of another program\n")).toBe(
      "/x/host.db: is of another program",
    );
  });

  test("is the error's own, not a stack frame, when it was thrown", () => {
    const output = `/x/host.cjs:3
throw new TypeError("no such thing");
^

TypeError: no such thing
    at Object.<anonymous> (/x/host.cjs:3:7)
    at node:internal/main/run_main_module:36:49

Node.js v22.23.3
`;
    expect(failureLine(output)).toBe("TypeError: no such thing");
  });

  test("names both versions and the remedy for a module built for another Node.js", () => {
    expect(failureLine(MISMATCH)).toBe(
      `better-sqlite3 was built for another Node.js (ABI 115); this is ${process.version} ` +
        "(ABI 127). Run: npm rebuild better-sqlite3",
    );
  });

  test("is absent when nothing was said", () => {
    expect(failureLine("")).toBeUndefined();
    expect(failureLine("\n  \n")).toBeUndefined();
    expect(abiMismatch("NODE_MODULE_VERSION 115 alone")).toBeUndefined();
  });
});
