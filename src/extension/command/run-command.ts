/** Carries out one `/workflow …`. Never throws: what goes wrong is told. */
import { describeFailure } from "../failure.ts";
import { UntrustedError } from "../trust.ts";
import { CommandError } from "./call.ts";
import type { CommandCall } from "./call.ts";
import type { CommandName } from "./parse.ts";
import { answer, decide } from "./request-commands.ts";
import { cancel, list, pause, restart, resume, start, status, watch } from "./run-commands.ts";
import { clear, doctor, here, host } from "./session-commands.ts";

const TABLE: Readonly<Record<CommandName, (call: CommandCall) => Promise<void> | void>> = {
  list,
  start,
  status,
  watch: async (call) => await watch(call),
  pause,
  resume,
  cancel,
  restart,
  answer,
  decide,
  here,
  clear,
  host,
  doctor,
};

export async function runCommand(call: CommandCall): Promise<void> {
  const { parsed, place, signal } = call;
  try {
    await TABLE[parsed.name](call);
  } catch (error) {
    // The session has ended, and with it the place where it could be told.
    if (signal.aborted) return;
    place.ui.notify(wordsOf(error, call), "error");
  }
}

function wordsOf(error: unknown, { parsed, signal }: CommandCall): string {
  if (error instanceof CommandError || error instanceof UntrustedError) return error.message;
  return describeFailure(error, { subject: parsed.target || parsed.name, signal }).text;
}
