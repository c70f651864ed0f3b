/** What authors import from `pi-workflows`. Nothing else of this folder is public. */
export { defineWorkflow, isWorkflow } from "./define-workflow.ts";
export type { Workflow, WorkflowDefinition } from "./define-workflow.ts";
export type { EdgeDefinition, SwitchDefinition, SwitchEdgeDefinition } from "./edges.ts";
export { agent, assistantMessage } from "./agent.ts";
export type {
  AgentNode,
  AgentOptions,
  AssistantMessage,
  ModelChoice,
  ModelStepOptions,
  ReplyOptions,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./agent.ts";
export { decision, decisionEdge } from "./decision.ts";
export type { DecisionChoices, DecisionNode, DecisionOptions } from "./decision.ts";
export {
  choice,
  defineHumanChoices,
  humanDecision,
  humanDecisionEdge,
  textInput,
} from "./human-decision.ts";
export type {
  HumanAnswer,
  HumanChoice,
  HumanChoices,
  HumanDecisionNode,
  HumanDecisionOptions,
  HumanRequest,
  HumanTimeout,
  PlainChoice,
  TextChoice,
  TextInput,
} from "./human-decision.ts";
export { notify } from "./notify.ts";
export type { Notice, NoticeKind, NotifyNode, NotifyOptions } from "./notify.ts";
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
  ManualEffectOptions,
  NodeDefinition,
  ShellCommand,
  ShellNode,
  ShellOptions,
  ShellResult,
  WaitNode,
  WaitOptions,
} from "./nodes.ts";
export type { JsonSchema, NodeOptions, RetryPolicy, Stated } from "./node-options.ts";
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
export type { ResultForm } from "./graph.ts";
export type { Outcome } from "./route.ts";
