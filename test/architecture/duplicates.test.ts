import { describe, expect, test } from "vitest";
import { duplicates, TOKENS_ALIKE_MAX } from "./duplicates.ts";
import { sourceFiles } from "./source-tree.ts";

describe("the source tree", () => {
  test("says nothing twice", () => {
    expect(duplicates(sourceFiles("src"), TOKENS_ALIKE_MAX)).toEqual([]);
  });
});

describe("the duplication check", () => {
  const body = "if (a) { return b(c, d); } else { throw new Error(e); }";

  test("finds a passage that was copied, wherever its lines break", () => {
    const files = [
      { path: "a.ts", text: `const x = 1;\n${body}` },
      { path: "b.ts", text: `// A comment.\n${body.replaceAll(" ", "\n")}` },
    ];
    expect(duplicates(files, 15)).toEqual(["a.ts:2 and b.ts:2"]);
  });

  test("does not mind imports or a shorter likeness", () => {
    const imports = 'import { a, b, c, d, e, f, g, h, i } from "./x.ts";\n';
    const files = [
      { path: "a.ts", text: `${imports}f(1);` },
      { path: "b.ts", text: `${imports}f(2);` },
    ];
    expect(duplicates(files, 15)).toEqual([]);
  });
});
