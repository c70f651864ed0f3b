import type { ActionContext } from "../../workflow/context.ts";
import { describeError } from "../../workflow/describe-error.ts";
import { TimeoutError } from "../../workflow/errors.ts";
import type { ShellNode, ShellResult } from "../../workflow/nodes.ts";
import { requestOf, toCommand } from "./command.ts";
import type { PlannedCommand } from "./command.ts";
import {
  abortedBeforeActing,
  actionContext,
  effectKey,
  effectOf,
  fingerprintOf,
  observe,
  rejectedEffect,
  unknownEffect,
} from "./effect.ts";
import type {
  EffectGrant,
  EffectOutcome,
  NodeExecutor,
  NodeOutcome,
  NodeTools,
} from "./executor.ts";
import { lineUpdates } from "./line-updates.ts";
import { aborted, failed, failedOrAborted, outputText } from "./outcome.ts";
import { runCommand } from "./run-command.ts";
import type { CommandResult } from "./run-command.ts";

/**
 * Runs one command under a managed effect. A command that ended by itself has
 * done its effect, whatever its exit code says of the attempt.
 */
export const shell: NodeExecutor<"shell"> = async (node, context, tools) => {
  const { effect: declared } = node;
  const { policy, type } = effectOf(declared, tools.node);
  const acting = actionContext(context, tools, {
    key: effectKey(context.run, type, tools.node),
    type,
  });
  let planned: PlannedCommand;
  let fingerprint: string;
  try {
    planned = toCommand(await node.exec(acting), acting, tools.node);
    const request =
      declared?.request === undefined ? requestOf(planned) : declared.request(context);
    fingerprint = fingerprintOf(await request, tools.node);
  } catch (thrown) {
    return failedOrAborted(tools, thrown);
  }
  const observable = declared?.observe !== undefined;
  const grant = await tools.beginEffect({ policy, type, fingerprint, observable });
  if (grant.kind === "blocked") return { kind: "stopped" };
  if (grant.kind === "stored") return stored(tools, grant);
  const seen =
    grant.kind === "observe" ? await observe(declared, acting, { tools, grant }) : undefined;
  const before = seen ?? abortedBeforeActing(tools, grant);
  return before ?? (await act(node, planned, { tools, grant, acting }));
};

interface Acting {
  readonly tools: NodeTools;
  readonly grant: EffectGrant;
  readonly acting: ActionContext;
}

async function act(node: ShellNode, planned: PlannedCommand, acting: Acting): Promise<NodeOutcome> {
  const { tools, grant } = acting;
  let result: CommandResult;
  try {
    result = await runCommand(planned, {
      signal: tools.signal,
      onSpawn: (pid) => tools.effectProcess(grant.effectId, pid),
      print: (stream, text) => tools.print(stream, text),
      ...lineUpdates(node.updates, tools),
    });
  } catch (thrown) {
    // It never ran, so nothing happened.
    return failed(thrown, rejectedEffect(grant, thrown));
  }
  if (result.ended !== "by_itself") return killed(planned, result, acting);
  tools.note("effect.performed");
  const effect = appliedEffect(grant, planned, result);
  if (!planned.allowNonZeroExit && result.exitCode !== 0)
    return failed(exitError(planned, result), effect);
  return await outputOf(node, result, { tools, effect });
}

/** Where a command was when it was killed, nobody knows. */
function killed(
  planned: PlannedCommand,
  { ended }: CommandResult,
  { tools, grant }: Acting,
): NodeOutcome {
  const late = new TimeoutError(
    `command ${planned.command} of node ${tools.node}`,
    planned.timeoutMs ?? 0,
  );
  const reason: unknown = ended === "timed_out" ? late : tools.signal.reason;
  const effect = unknownEffect(grant, reason);
  if (ended === "timed_out") return { kind: "timed_out", error: describeError(late), effect };
  return aborted(tools, undefined, effect) ?? { kind: "stopped" };
}

/** The receipt tells what ran and how it ended, and holds neither environment nor input. */
function appliedEffect(
  { effectId }: EffectGrant,
  { command, args }: PlannedCommand,
  { exitCode, signal, durationMs, truncated }: CommandResult,
): EffectOutcome {
  const receipt = { command, args: args.length, exitCode, signal, durationMs, truncated };
  return { effectId, kind: "applied", receiptJson: JSON.stringify(receipt) };
}

async function outputOf(
  node: ShellNode,
  { stdout, stderr, exitCode, signal, durationMs }: CommandResult,
  { tools, effect }: { readonly tools: NodeTools; readonly effect: EffectOutcome },
): Promise<NodeOutcome> {
  const result: ShellResult = { stdout, stderr, exitCode, signal, durationMs };
  try {
    const output = node.parse === undefined ? result : await node.parse(result);
    return { kind: "ok", outputJson: outputText(tools, output), effect };
  } catch (thrown) {
    return failed(thrown, effect);
  }
}

function exitError(planned: PlannedCommand, result: CommandResult): Error {
  const { exitCode, signal, stderrTail } = result;
  const how = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
  const last = stderrTail.trim();
  const message = `${planned.command} ${how}${last === "" ? "" : `: ${last}`}`;
  return Object.assign(new Error(message), { name: "CommandFailedError", exitCode, signal });
}

/** What a command printed is not part of its receipt, so its output cannot be made again. */
function stored(tools: NodeTools, { effectId, receiptJson = "null" }: EffectGrant): NodeOutcome {
  const message = `the command of node ${tools.node} ran before (${receiptJson}), and its output is not kept`;
  const error = Object.assign(new Error(message), { name: "OutputLostError", retryable: false });
  return failed(error, { effectId, kind: "applied", receiptJson });
}
