/** The user's command `/workflow` and its key. What they do is loaded when they are first used. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { systemClock } from "../platform/clock.ts";
import { listWorkflows } from "../platform/workflow-files.ts";
import { completions } from "./command/completions.ts";
import { CommandUsageError, parseCommand, usageLines } from "./command/parse.ts";
import type { ParsedCommand } from "./command/parse.ts";
import { Guard } from "./guard.ts";
import type { LinkAccess } from "./session-link.ts";

type CommandApi = Pick<ExtensionAPI, "on" | "registerCommand" | "registerShortcut">;

/** Opens the details of a run. Free in Pi, and without meaning to its editor. */
const DETAILS_KEY = "ctrl+shift+w";
const NOT_ATTACHED = "There is no session yet, or it has ended.";

export function registerCommand(pi: CommandApi, access: LinkAccess, guard = new Guard()): void {
  const session = new CommandSession(access, guard);
  pi.on(
    "session_start",
    guard.wrap("command start", (_event: unknown, ctx: ExtensionContext) => session.begin(ctx.cwd)),
  );
  pi.on(
    "session_shutdown",
    guard.wrap("command end", () => session.end()),
  );
  pi.registerCommand("workflow", {
    description: "Durable workflows: list, start, status, decide, resume … (/workflow help)",
    getArgumentCompletions: (typed) =>
      guard.run("completion", () => session.completions(typed)) ?? null,
    handler: async (typed, ctx) => await session.run(typed, ctx),
  });
  pi.registerShortcut(DETAILS_KEY, {
    description: "Show the details of a workflow run",
    handler: async (ctx) => await session.run("watch", ctx),
  });
}

class CommandSession {
  readonly #access: LinkAccess;
  readonly #guard: Guard;
  #ended = new AbortController();
  #cwd = "";

  constructor(access: LinkAccess, guard: Guard) {
    this.#access = access;
    this.#guard = guard;
  }

  begin(cwd: string): void {
    this.#cwd = cwd;
  }

  /** Closes every dialog and stops every call. */
  end(): void {
    this.#ended.abort();
    this.#ended = new AbortController();
  }

  completions(typed: string): ReturnType<typeof completions> {
    const picture = this.#access()?.picture;
    return completions(typed, { picture, workflows: () => listWorkflows(this.#cwd) });
  }

  /** Never rejects: after the end of the session there is nobody to be told. */
  async run(typed: string, ctx: ExtensionContext): Promise<void> {
    try {
      await this.#run(typed, ctx);
    } catch (error) {
      this.#guard.note("command", error);
    }
  }

  async #run(typed: string, ctx: ExtensionContext): Promise<void> {
    const link = this.#access();
    const parsed = this.#parse(typed, ctx);
    if (parsed === undefined) return;
    if (link === undefined || link.state.kind === "unsupported") {
      const why = link?.state.kind === "unsupported" ? link.state.reason : NOT_ATTACHED;
      ctx.ui.notify(`workflow: ${why}`, "error");
      return;
    }
    const { runCommand } = await import("./command/run-command.ts");
    const { signal } = this.#ended;
    await runCommand({ link, place: ctx, parsed, signal, now: () => systemClock.now() });
  }

  /** Absent when how to type it was all there is to say. */
  #parse(typed: string, ctx: ExtensionContext): ParsedCommand | undefined {
    try {
      const parsed = parseCommand(typed);
      if (parsed === undefined) ctx.ui.notify(usageLines().join("\n"), "info");
      return parsed;
    } catch (error) {
      if (!(error instanceof CommandUsageError)) throw error;
      ctx.ui.notify(error.message, "error");
      return undefined;
    }
  }
}
