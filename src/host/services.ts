/** What the socket serves. */
import type { ConnectRouter } from "@connectrpc/connect";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { EffectService } from "../gen/piworkflows/host/v1/effect_service_pb.ts";
import { HostService } from "../gen/piworkflows/host/v1/host_service_pb.ts";
import { InteractionService } from "../gen/piworkflows/host/v1/interaction_service_pb.ts";
import { RunService } from "../gen/piworkflows/host/v1/run_service_pb.ts";
import { SessionService } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { effectService } from "./handlers/effect-service.ts";
import { hostService } from "./handlers/host-service.ts";
import { interactionService } from "./handlers/interaction-service.ts";
import type { HandlerParts } from "./handlers/parts.ts";
import { reflection } from "./handlers/reflection.ts";
import { runService } from "./handlers/run-service.ts";
import { sessionService } from "./handlers/session-service.ts";

const SERVED = [RunService, InteractionService, SessionService, EffectService, HostService];

export function serveAll(router: ConnectRouter, parts: HandlerParts): void {
  router
    .service(RunService, runService(parts))
    .service(InteractionService, interactionService(parts))
    .service(SessionService, sessionService(parts))
    .service(EffectService, effectService(parts))
    .service(HostService, hostService(parts))
    .service(ServerReflection, reflection(SERVED));
}
