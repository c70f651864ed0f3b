/** The question that an id of it, or of its run, means. */
import type { HostClient } from "../client/host-client.ts";
import { isRejectedFor, rejectionOf } from "../client/rejection.ts";
import { Reason } from "../gen/piworkflows/common/v1/error_pb.ts";
import type { Interaction } from "../gen/piworkflows/common/v1/interaction_pb.ts";
import { NotFoundError, RefusedError } from "./arguments.ts";

type OtherWay = (client: HostClient, runId: string) => Promise<string>;

/**
 * The interaction of this id, or the one the run of this id waits with. Of an id without
 * the letters that say its kind, the interaction is meant first. `otherwise` names one for a
 * run that waits with none.
 */
export async function findInteraction(
  client: HostClient,
  id: string,
  otherwise?: OtherWay,
): Promise<Interaction> {
  if (id.startsWith("run_")) return await ofRun(client, id, otherwise);
  try {
    return await interactionOf(client, id);
  } catch (error) {
    if (id.startsWith("int_") || !fitsNothing(error, Reason.INTERACTION_NOT_FOUND)) throw error;
    return await ofRun(client, id, otherwise).catch((other: unknown) => {
      // Nothing is told of runs to somebody who gave too little of an id.
      throw fitsNothing(other, Reason.RUN_NOT_FOUND) ? bothUnknown(error, id) : other;
    });
  }
}

/** The interaction as it is now. */
export async function interactionOf(
  client: HostClient,
  interactionId: string,
): Promise<Interaction> {
  const { interaction } = await client.call(({ interactions }) =>
    interactions.getInteraction({ interactionId }),
  );
  if (interaction === undefined) throw new NotFoundError(`there is no question ${interactionId}`);
  return interaction;
}

async function ofRun(client: HostClient, id: string, otherwise?: OtherWay): Promise<Interaction> {
  const { run } = await client.call(({ runs }) => runs.getRun({ runId: id }));
  const { runId = id, interactionId = "" } = run?.summary ?? {};
  if (interactionId !== "") return await interactionOf(client, interactionId);
  const other = otherwise === undefined ? "" : await otherwise(client, runId);
  if (other === "") throw new RefusedError(`${runId} waits for no answer`);
  return await interactionOf(client, other);
}

/** Ids that fit several things come with their names, and are no unknown ones. */
function fitsNothing(error: unknown, reason: Reason): boolean {
  return isRejectedFor(error, reason) && rejectionOf(error)?.names.length === 0;
}

function bothUnknown(error: unknown, id: string): unknown {
  if (rejectionOf(error)?.message.includes("too short") === true) return error;
  return new NotFoundError(
    `there is neither a question nor a run ${id}; see: pi-workflows interactions`,
  );
}
