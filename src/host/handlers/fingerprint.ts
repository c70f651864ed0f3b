/** What makes two requests the same request. */
import { toJson } from "@bufbuild/protobuf";
import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import type { Command } from "../../gen/piworkflows/common/v1/command_pb.ts";
import { commandFingerprint } from "../operations/canonical.ts";
import type { AskedCommand } from "../operations/canonical.ts";
import type { CommandInput } from "../store/doors.ts";
import { checkBytes, checkName, invalid } from "./checks.ts";

/** Checks the envelope of a command and digests the rest of the request. */
export function identify<Desc extends DescMessage>(
  schema: Desc,
  request: MessageShape<Desc> & { readonly command?: Command | undefined },
): AskedCommand {
  const command = commandInput(request.command);
  const method = schema.name.replace(/Request$/, "");
  const fields = fieldsOf(schema, request);
  const fingerprint = commandFingerprint(method, {
    expectedRevision: command.expectedRevision ?? null,
    fields,
  });
  return { command, method, fingerprint };
}

/** All but the envelope, which differs between an attempt and its repeat. */
function fieldsOf<Desc extends DescMessage>(schema: Desc, request: MessageShape<Desc>): JsonValue {
  try {
    return toJson(schema, { ...request, command: undefined });
  } catch {
    throw invalid(schema.name, "holds something JSON cannot say, such as NaN");
  }
}

function commandInput(command: Command | undefined): CommandInput {
  if (command === undefined) throw invalid("command", "is missing");
  const requestId = checkName("command.request_id", command.requestId);
  const key = checkBytes("command.idempotency_key", command.idempotencyKey);
  const client = checkBytes("command.client", command.client);
  const input = { requestId, key: key === "" ? requestId : key, client };
  if (command.expectedRevision === undefined) return input;
  return { ...input, expectedRevision: Number(command.expectedRevision) };
}
