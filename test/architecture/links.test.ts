import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { filesBelow, ROOT } from "./source-tree.ts";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "AGENTS.md",
  ...filesBelow("docs").filter((path) => path.endsWith(".md")),
];

/** Links of a page that lead into this repository, or to a part of the page itself. */
function linksOf(text: string): readonly string[] {
  const inline = [...withoutCode(text).matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const named = [...withoutCode(text).matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)];
  return [...inline, ...named]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

function withoutCode(text: string): string {
  return text.replace(/^(```|~~~)[^]*?^\1/gm, "").replace(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, "");
}

/** The anchors that a renderer makes of the headings; a repeated one is counted. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const headings = text.replace(/^(```|~~~)[^]*?^\1/gm, "").matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm);
  for (const [, heading = ""] of headings) {
    const slug = slugOf(heading);
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** Why a link of a page leads nowhere; absent when it leads somewhere. */
function faultOf(page: string, link: string): string | undefined {
  const [path = "", anchor] = link.split("#", 2);
  const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), decodeURI(path));
  if (relative(ROOT, target).startsWith("..")) return "leads out of the repository";
  if (!existsSync(target)) return "there is no such file";
  if (anchor === undefined || !target.endsWith(".md")) return undefined;
  const anchors = anchorsOf(readFileSync(target, "utf8"));
  return anchors.has(anchor.toLowerCase()) ? undefined : "there is no such heading";
}

describe("the links of", () => {
  test.each(PAGES)("%s lead somewhere", (page) => {
    const found = linksOf(readFileSync(join(ROOT, page), "utf8"))
      .map((link) => ({ link, fault: faultOf(page, link) }))
      .filter(({ fault }) => fault !== undefined);
    expect(found).toEqual([]);
  });
});

describe("the check of links", () => {
  test.each([
    ["[a](docs/nowhere.md)", "there is no such file"],
    ["[a](docs/cli.md#no-such-part)", "there is no such heading"],
    ["[a](../elsewhere.md)", "leads out of the repository"],
    ["[a]: docs/nowhere.md", "there is no such file"],
  ])("finds that %j leads nowhere", (text, fault) => {
    expect(linksOf(text).map((link) => faultOf("README.md", link))).toEqual([fault]);
  });

  test("passes over other sites, code, and what is there", () => {
    const text =
      "[a](https://x.example/y) `[b](c.md)` [d](docs/cli.md#exit-codes)\n```\n[e](f)\n```\n";
    expect(linksOf(text)).toEqual(["docs/cli.md#exit-codes"]);
    expect(faultOf("README.md", "docs/cli.md#exit-codes")).toBeUndefined();
  });
});
