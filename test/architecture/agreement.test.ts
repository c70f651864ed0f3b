import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PAGE, renew } from "../../scripts/lifecycle-page.ts";
import { Reason } from "../../src/gen/piworkflows/common/v1/error_pb.ts";
import { EffectService } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../../src/gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../../src/gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../../src/gen/piworkflows/host/v1/run_service_pb.ts";
import { SessionService } from "../../src/gen/piworkflows/host/v1/session_service_pb.ts";
import { WorkerService } from "../../src/gen/piworkflows/worker/v1/worker_service_pb.ts";
import { attemptLifecycle } from "../../src/host/lifecycle/attempt.ts";
import { effectLifecycle } from "../../src/host/lifecycle/effect.ts";
import { interactionLifecycle } from "../../src/host/lifecycle/interaction.ts";
import { runLifecycle } from "../../src/host/lifecycle/run.ts";
import * as limits from "../../src/host/limits.ts";
import { CRASH_POINTS } from "../../src/platform/crash-points.ts";
import { filesBelow, ROOT } from "./source-tree.ts";
import { SCHEMA_FILES } from "../../src/host/store/schema.ts";

const SERVICES = [
  RunService,
  InteractionService,
  SessionService,
  EffectService,
  HostService,
  WorkerService,
];

describe("what is said in two places", () => {
  test.each([
    ["runs", runLifecycle.statuses],
    ["attempts", attemptLifecycle.statuses],
    ["interactions", interactionLifecycle.statuses],
    ["effects", effectLifecycle.statuses],
  ])("the statuses of %s are the same in the table and in the database", (table, statuses) => {
    expect(statusesInSchema(table).toSorted()).toEqual([...statuses].toSorted());
  });

  test("docs/lifecycle.md shows the tables as they are", () => {
    const page = readFileSync(PAGE, "utf8");
    expect(page).toBe(renew(page));
  });

  test("docs/errors.md has a section for each reason and for nothing else", () => {
    const reasons = Object.keys(Reason).filter((name) => name !== "UNSPECIFIED");
    expect(sections("docs/errors.md", /^[A-Z_]+$/)).toEqual(reasons.toSorted());
  });

  test("docs/protocol.md names every method of every service", () => {
    const page = read("docs/protocol.md");
    const methods = SERVICES.flatMap((service) => service.methods.map((method) => method.name));
    expect(methods.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test("docs/protocol.md lists every limit", () => {
    const page = read("docs/protocol.md");
    expect(Object.keys(limits).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test("every crash point is the subject of a fault test", () => {
    const tests = [...filesBelow("test/fault"), "test/support/death-table.ts"]
      .filter((path) => path.endsWith(".ts"))
      .map(read)
      .join("\n");
    expect(CRASH_POINTS.filter((point) => !tests.includes(point))).toEqual([]);
  });
});

function statusesInSchema(table: string): readonly string[] {
  const definition = new RegExp(`CREATE TABLE ${table} \\(([\\s\\S]*?)\\n\\) STRICT`).exec(
    SCHEMA_FILES.map((file) => read(`src/host/store/${file}`)).join("\n"),
  );
  const check = /\bCHECK \(status IN \(([^)]*)\)\)/.exec(definition?.[1] ?? "");
  return [...(check?.[1] ?? "").matchAll(/'(\w+)'/g)].map((match) => match[1] ?? "");
}

/** The headings of a page that look like `shape`, sorted. */
function sections(page: string, shape: RegExp): readonly string[] {
  return [...read(page).matchAll(/^#{2,3} `?([^`\n]+)`?$/gm)]
    .map((match) => match[1] ?? "")
    .filter((heading) => shape.test(heading))
    .toSorted();
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
