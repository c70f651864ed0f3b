/** Who may call what, decided on the headers: nothing of a refused call is read. */
import type { HandlerContext } from "@connectrpc/connect";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { HostService } from "../gen/piworkflows/host/v1/host_service_pb.ts";
import { HostError } from "./errors.ts";
import { rejectionError } from "./handlers/rejections.ts";

/** Carries a client's package version; tools such as `buf curl` send none. */
export const VERSION_HEADER = "x-pi-workflows-version";

export interface GateOptions {
  /** Version of this host's package. */
  readonly version: string;
  /** True from the moment the host takes nothing new. */
  isStopping(): boolean;
}

export function createGate(options: GateOptions): (context: HandlerContext) => void {
  return (context) => {
    try {
      check(options, context);
    } catch (error) {
      throw error instanceof HostError ? rejectionError(error) : error;
    }
  };
}

/** With these a client of any version finds out what is wrong, and mends it. */
const ALWAYS: ReadonlySet<unknown> = new Set([
  HostService.method.getStatus,
  HostService.method.shutdown,
]);

function check(options: GateOptions, { service, method, requestHeader }: HandlerContext): void {
  if (ALWAYS.has(method) || service.typeName === ServerReflection.typeName) return;
  if (options.isStopping()) {
    throw new HostError("HOST_STOPPING", "the host is stopping; call again");
  }
  const version = requestHeader.get(VERSION_HEADER);
  if (version === null || version === options.version) return;
  const message =
    `this client is of version ${version} and the host that runs is of ${options.version}; ` +
    "run: pi-workflows host restart";
  throw new HostError("VERSION_SKEW", message);
}
