/** What makes two requests the same request. */
import { toJson } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Command } from "../../gen/piworkflows/common/v1/command_pb.ts";
import { commandFingerprint } from "../operations/canonical.ts";
import { checkBytes, checkName, invalid } from "./checks.ts";

/** Who asks, and what a repeat is recognised by. */
export interface CommandInput {
  readonly requestId: string;
  readonly key: string;
  readonly expectedRevision?: number;
  readonly client: string;
}

/** A command as the doors take it. */
export interface IdentifiedCommand {
  readonly command: CommandInput;
  readonly method: string;
  /** Digest of the request's fields; never of the content of a file. */
  readonly fingerprint: string;
}

/** Checks the envelope of a command and digests the rest of the request. */
export function identify<Desc extends DescMessage>(
  schema: Desc,
  request: MessageShape<Desc> & { readonly command?: Command },
): IdentifiedCommand {
  const command = commandInput(request.command);
  const method = schema.name.replace(/Request$/, "");
  const fields = toJson(schema, { ...request, command: undefined });
  const fingerprint = commandFingerprint(method, {
    expectedRevision: command.expectedRevision ?? null,
    fields,
  });
  return { command, method, fingerprint };
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
