import {
  Resolution,
  ResolveEffectResponseSchema,
} from "../../gen/piworkflows/host/v1/effect_service_pb.ts";
import { UsageError } from "../arguments.ts";
import type { Arguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";
import { safe } from "../text.ts";
import { readValue } from "../values.ts";
import { effectWord } from "../views/words.ts";
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
    printResponse(cli, ResolveEffectResponseSchema, response, () =>
      effect === undefined
        ? []
        : [`${effect.effectId} (${safe(effect.type)}) is ${effectWord(effect.status)}`],
    );
    return ExitCode.success;
  },
};

function resolutionOf(args: Arguments): Resolution {
  const chosen = [
    args.text("applied") === undefined ? undefined : Resolution.APPLIED,
    args.flag("not-applied") ? Resolution.NOT_APPLIED : undefined,
    args.flag("retry") ? Resolution.RETRY : undefined,
  ].filter((resolution) => resolution !== undefined);
  const [resolution] = chosen;
  if (resolution !== undefined && chosen.length === 1) return resolution;
  throw new UsageError("say what became of it: --applied JSON, --not-applied or --retry");
}
