import { InteractionKind } from "../../gen/piworkflows/common/v1/interaction_pb.ts";
import { AnswerDecisionResponseSchema } from "../../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RefusedError } from "../arguments.ts";
import type { Cli, Command } from "../command.ts";
import { decideAtTerminal } from "../decide-question.ts";
import type { Decided } from "../decide-question.ts";
import { ExitCode } from "../exit-codes.ts";
import { findInteraction } from "../find-interaction.ts";
import { safe } from "../../platform/text.ts";
import { otherWay } from "../views/waiting.ts";
import { KEY_OPTION, printResponse } from "./shared.ts";

export const command: Command = {
  description:
    "Decides what only a person may decide. Shows the whole subject, then asks; it needs a\n" +
    "terminal, and takes no answer from the command line. The interaction's id may be the run's.",
  positionals: [{ name: "INTERACTION|RUN", completes: "interaction" }],
  options: { key: KEY_OPTION },
  examples: [["decide int_01jd", "look at the subject and decide"]],
  async run(args, cli) {
    if (!cli.canAsk) {
      throw new RefusedError(
        "a decision needs a person at a terminal: both input and output must be one",
      );
    }
    const client = await cli.connect();
    const interaction = await findInteraction(client, args.required(0));
    const { interactionId, kind, summary } = interaction;
    if (kind !== InteractionKind.HUMAN_DECISION) {
      throw new RefusedError(`${interactionId} is no decision${otherWay(interaction)}`);
    }
    const decided = await decideAtTerminal(cli, client, { interactionId, key: args.text("key") });
    return told(cli, `${interactionId}: ${safe(summary)}`, decided);
  },
};

function told(cli: Cli, what: string, decided: Decided): ExitCode {
  if (decided.end === "decided") {
    printResponse(cli, AnswerDecisionResponseSchema, decided.response, () => [`decided ${what}`]);
    return ExitCode.success;
  }
  if (decided.end === "closed") throw new RefusedError(decided.how);
  cli.out.note("nothing was decided");
  return ExitCode.runNeedsAnswer;
}
