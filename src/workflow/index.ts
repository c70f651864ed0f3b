/** What authors import from `pi-workflows`. Nothing else of this folder is public. */
export { defineWorkflow, isWorkflow } from "./define-workflow.ts";
export type {
  EdgeDefinition,
  SwitchDefinition,
  Workflow,
  WorkflowDefinition,
} from "./define-workflow.ts";
export {
  action,
  checkpoint,
  compute,
  idempotentEffect,
  manualEffect,
  shell,
  wait,
} from "./nodes.ts";
export type {
  ActionNode,
  ActionOptions,
  CheckpointNode,
  CheckpointOptions,
  ComputeNode,
  ComputeOptions,
  EffectObservation,
  EffectRequest,
  IdempotentEffectOptions,
  Instant,
  JsonSchema,
  ManualEffectOptions,
  NodeDefinition,
  NodeOptions,
  RetryPolicy,
  ShellCommand,
  ShellNode,
  ShellOptions,
  ShellResult,
  WaitNode,
  WaitOptions,
} from "./nodes.ts";
export type {
  ActionContext,
  Context,
  EffectContext,
  NodeResult,
  RunContext,
  UnknownOutputs,
} from "./context.ts";
export {
  ClaimLostError,
  EffectUnknown,
  HostStoppingError,
  TimeoutError,
  NonRetryableError,
  RoutingError,
  CancelledError,
  PausedError,
  WorkflowDefinitionError,
} from "./errors.ts";
export type { Problem } from "./errors.ts";
export { JsonValueError, toJson } from "./json.ts";
export type { JsonValue } from "./json.ts";
export type { ErrorDescription } from "./describe-error.ts";
export type { Outcome } from "./route.ts";
