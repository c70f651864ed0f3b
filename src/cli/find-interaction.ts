/** The question that an id of it, or of its run, means. */
import type { HostClient } from "../client/host-client.ts";
import type { Interaction } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import { NotFoundError, RefusedError } from "./arguments.ts";

type OtherWay = (client: HostClient, runId: string) => Promise<string>;

/**
 * The interaction of this id, or the one the run of this id waits with. `otherwise`
 * names one for a run that waits with none.
 */
export async function findInteraction(
  client: HostClient,
  id: string,
  otherwise?: OtherWay,
): Promise<Interaction> {
  const interactionId = id.startsWith("run_") ? await ofRun(client, id, otherwise) : id;
  const { interaction } = await client.call(({ interactions }) =>
    interactions.getInteraction({ interactionId }),
  );
  if (interaction === undefined) throw new NotFoundError(`there is no question ${interactionId}`);
  return interaction;
}

async function ofRun(client: HostClient, id: string, otherwise?: OtherWay): Promise<string> {
  const { run } = await client.call(({ runs }) => runs.getRun({ runId: id }));
  const { runId = id, interactionId = "" } = run?.summary ?? {};
  if (interactionId !== "") return interactionId;
  const other = otherwise === undefined ? "" : await otherwise(client, runId);
  if (other === "") throw new RefusedError(`${runId} waits for no answer`);
  return other;
}
