import {
  Resolution,
  ResolveEffectResponseSchema,
} from "../../gen/piworkflows/host/v1/effect_service_pb.ts";
import type { HostClient } from "../../client/host-client.ts";
import { UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { safe } from "../../platform/text.ts";
import { readValue } from "../values.ts";
import { isTerminal, remedies, statusWord } from "../views/words.ts";
import { KEY_OPTION, newCommand, printResponse } from "./shared.ts";

export const command: Command = {
  description:
    "Says what became of an effect whose outcome nobody knows. When it was the last one of a\n" +
    "blocked run, the run goes on.",
  positionals: [{ name: "EFFECT", completes: "effect" }],
  options: {
    applied: {
      type: "string",
      value: "JSON",
      help: "It happened; JSON (or @FILE, -) is the node's output",
    },
    "not-applied": { type: "boolean", help: "It did not happen; the node counts as failed" },
    retry: { type: "boolean", help: "Do it again, under the same key" },
    key: KEY_OPTION,
  },
  examples: [
    [`effects resolve eff_01jd --applied '{"id":7}'`, "it was done, with this output"],
    ["effects resolve eff_01jd --retry", "it was not done: do it"],
  ],
  async run(args, cli) {
    const resolution = resolutionOf(args);
    const applied = args.text("applied");
    const request = {
      command: newCommand(args.text("key")),
      effectId: args.required(0),
      resolution,
      ...(applied === undefined ? {} : { output: readValue("--applied", applied, cli.cwd) }),
    };
    const client = await cli.connect();
    const response = await client.call(({ effects }) => effects.resolveEffect(request));
    const { effect } = response;
    const goesOn = cli.json ? [] : await waysOn(client, effect?.runId ?? "");
    printResponse(cli, ResolveEffectResponseSchema, response, () =>
      effect === undefined
        ? []
        : [`${effect.effectId} (${safe(effect.type)}): ${SAID[resolution]}`, ...goesOn],
    );
    return ExitCode.success;
  },
};

const SAID: Readonly<Record<Resolution, string>> = {
  [Resolution.UNSPECIFIED]: "",
  [Resolution.APPLIED]: "it counts as applied",
  [Resolution.NOT_APPLIED]: "it counts as not applied",
  [Resolution.RETRY]: "it will be tried again",
};

/** What the run does now; a run that was paused meanwhile waits for its resume. */
async function waysOn(client: HostClient, runId: string): Promise<readonly string[]> {
  if (runId === "") return [];
  const { run } = await client.call(({ runs }) => runs.getRun({ runId }));
  const summary = run?.summary;
  if (summary === undefined || isTerminal(summary)) return [];
  const ways = remedies(summary);
  if (ways.length === 0) return [];
  return [`${runId} is ${statusWord(summary)}; to let it go on:`, ...ways.map((way) => `  ${way}`)];
}

function resolutionOf(args: Arguments): Resolution {
  const chosen = [
    args.text("applied") === undefined ? undefined : Resolution.APPLIED,
    args.flag("not-applied") ? Resolution.NOT_APPLIED : undefined,
    args.flag("retry") ? Resolution.RETRY : undefined,
  ].filter((resolution) => resolution !== undefined);
  const [resolution] = chosen;
  if (resolution !== undefined && chosen.length === 1) return resolution;
  if (chosen.length > 1) {
    throw new UsageError("--applied, --not-applied and --retry exclude each other");
  }
  throw new UsageError("say what became of it: --applied JSON, --not-applied or --retry");
}
