import type { JsonValue } from "@bufbuild/protobuf";
import { HostUnreachableError } from "../../client/host-error.ts";
import type { HostClient } from "../../client/host-client.ts";
import { FindingSchema } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import type { Finding } from "../../gen/piworkflows/host/v1/host_service_pb.ts";
import { UsageError } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { localChecks } from "../doctor/checks.ts";
import type { Check } from "../doctor/checks.ts";
import { ExitCode } from "../exit-codes.ts";
import { confirm } from "../prompt.ts";
import { plural, safe, safeLines } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import { newCommand } from "./shared.ts";

const NAME_CHARS = 18;

interface Report {
  readonly checks: Check[];
  findings: readonly Finding[];
  repaired: readonly Finding[];
}

export const command: Command = {
  description:
    "Looks for what is wrong: Node.js, the database driver, the state folder, the settings, Pi,\n" +
    "the host, and contradictions in the stored state. With --repair it mends those for which the\n" +
    "stored state holds exact proof, after telling what it would do. Exit code 3 when something\n" +
    "is wrong, 5 when that keeps the host from starting.",
  options: {
    repair: { type: "boolean", help: "Mend what can be mended" },
    yes: { type: "boolean", help: "With --repair: do not ask; needed without a terminal" },
  },
  examples: [
    ["doctor", "is everything in order?"],
    ["doctor --repair --yes", "mend without asking"],
  ],
  async run(args, cli) {
    const repair = args.flag("repair");
    if (repair && !args.flag("yes") && !cli.canAsk) {
      throw new UsageError("without a terminal --repair needs --yes");
    }
    const report: Report = {
      checks: [...localChecks(() => cli.paths())],
      findings: [],
      repaired: [],
    };
    const client = await connect(cli, report);
    if (client !== undefined) {
      const request = { runId: "" };
      report.findings = (await client.call(({ host }) => host.diagnose(request))).findings;
      if (repair && report.findings.length > 0) await mend(cli, client, report, args.flag("yes"));
    }
    print(cli, report);
    if (client === undefined) return ExitCode.unreachable;
    const isWell = report.findings.length === 0 && report.checks.every(({ ok }) => ok);
    return isWell ? ExitCode.success : ExitCode.refused;
  },
};

async function connect(cli: Cli, report: Report): Promise<HostClient | undefined> {
  try {
    const client = await cli.connect();
    const status = await client.call(({ host }) => host.getStatus({}));
    const detail = `pid ${status.pid}, version ${status.version}, ${status.state}`;
    report.checks.push({ name: "host", ok: status.state === "serving", detail });
    return client;
  } catch (error) {
    // A place that cannot hold state was told by its own check.
    if (error instanceof HostUnreachableError) {
      const detail = `${error.message}; log: ${error.logPath}`;
      report.checks.push({ name: "host", ok: false, detail });
      return undefined;
    }
    if (report.checks.some(({ ok }) => !ok)) return undefined;
    throw error;
  }
}

async function mend(cli: Cli, client: HostClient, report: Report, yes: boolean): Promise<void> {
  const repair = async (dryRun: boolean) => {
    const request = { command: newCommand(), dryRun };
    return await client.call(({ host }) => host.repair(request));
  };
  const plan = await repair(true);
  if (plan.repaired.length === 0) return;
  if (!yes || !cli.json) cli.out.lines(plan.repaired.map(planLine));
  if (!yes && !(await confirm(`Do that (${plural(plan.repaired.length, "repair")})?`))) return;
  const done = await repair(false);
  report.repaired = done.repaired;
  report.findings = done.remaining;
}

function print({ out, json }: Cli, { checks, findings, repaired }: Report): void {
  if (json) {
    out.json({ checks, findings: shapes(findings), repaired: shapes(repaired) });
    return;
  }
  for (const { name, ok, detail } of checks) {
    const mark = ok ? out.style("green", "ok   ") : out.style("red", "wrong");
    out.line(`${mark}  ${name.padEnd(NAME_CHARS)}${safeLines(detail)}`);
  }
  for (const finding of repaired)
    out.line(`${out.style("green", "mended")} ${findingLine(finding)}`);
  for (const finding of findings) out.line(`${out.style("red", "wrong")}  ${findingLine(finding)}`);
}

function shapes(findings: readonly Finding[]): readonly JsonValue[] {
  return findings.map((finding) => messageJson(FindingSchema, finding));
}

function planLine({ runId, message, repair }: Finding): string {
  return `plan   ${safe(runId)}: ${safe(message)}: ${safe(repair)}`;
}

function findingLine({ invariant, runId, message, repair }: Finding): string {
  const run = runId === "" ? "" : `${runId}: `;
  const remedy = repair === "" ? "" : ` (doctor --repair: ${safe(repair)})`;
  return `${run}${safe(message)} [${safe(invariant)}]${remedy}`;
}
