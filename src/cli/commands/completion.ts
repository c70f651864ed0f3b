import type { HostClient } from "../../client/host-client.ts";
import { listWorkflows } from "../../platform/workflow-files.ts";
import { UsageError } from "../arguments.ts";
import { scriptFor, SHELLS } from "../completion/scripts.ts";
import type { Cli, Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";

const IDS_MAX = 50;

export const command: Command = {
  description:
    "Prints a completion script. It completes commands, options, workflow names and, while a\n" +
    "host is running, ids.",
  positionals: [
    { name: "SHELL", completes: SHELLS },
    { name: "WORDS", optional: true },
  ],
  examples: [
    ["completion bash > ~/.local/share/bash-completion/completions/pi-workflows", "for bash"],
    ['completion zsh > "${fpath[1]}/_pi-workflows"', "for zsh"],
    ["completion fish > ~/.config/fish/completions/pi-workflows.fish", "for fish"],
  ],
  async run(args, cli) {
    const shell = args.required(0);
    const words = args.positionals[1];
    // The scripts ask this back for what changes: `completion words runs`.
    if (shell === "words") cli.out.lines(await dynamicWords(cli, words ?? ""));
    else cli.out.raw(scriptFor(knownShell(shell), await loadAll(cli)));
    return ExitCode.success;
  },
};

function knownShell(shell: string): string {
  if (SHELLS.includes(shell)) return shell;
  throw new UsageError(`the shell must be one of ${SHELLS.join(", ")}, not "${shell}"`);
}

async function loadAll({ commands }: Cli): Promise<ReadonlyMap<string, Command>> {
  const loaded = await Promise.all(
    Object.entries(commands).map(
      async ([name, entry]) => [name, (await entry.load()).command] as const,
    ),
  );
  return new Map(loaded);
}

/** Words a shell may offer. Never starts a host, and is silent when there is none. */
async function dynamicWords(cli: Cli, kind: string): Promise<readonly string[]> {
  if (kind === "workflow") return listWorkflows(cli.cwd).map(({ name }) => name);
  try {
    return await idsOf(await cli.connect({ startHost: false }), kind);
  } catch {
    // Whoever presses Tab does not want to read about hosts.
    return [];
  }
}

async function idsOf(client: HostClient, kind: string): Promise<readonly string[]> {
  const page = { pageSize: IDS_MAX };
  if (kind === "run") return (await client.runs.listRuns(page)).runs.map(({ runId }) => runId);
  if (kind === "interaction") {
    const { interactions } = await client.interactions.listInteractions(page);
    return interactions.map(({ interactionId }) => interactionId);
  }
  if (kind !== "effect") return [];
  return (await client.effects.listEffects(page)).effects.map(({ effectId }) => effectId);
}
