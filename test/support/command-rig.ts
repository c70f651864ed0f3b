/** The user's command over a host, a session and a user that a test plays. */
import { registerCommand } from "../../src/extension/workflow-command.ts";
import { FakeLink, FakePlace } from "./extension-fakes.ts";
import type { FakeServices } from "./extension-fakes.ts";

type Handler = (...args: readonly unknown[]) => unknown;

export interface CommandRig {
  readonly link: FakeLink;
  readonly place: FakePlace;
  /** Types `/workflow …` and waits until it is done. */
  readonly type: (typed: string) => Promise<string>;
  readonly press: () => Promise<string>;
  readonly complete: (typed: string) => unknown;
  /** What Pi tells when the session ends. */
  readonly shutdown: () => void;
}

/** `answers` are what the user says to dialogs, in their order; `undefined` is the Escape key. */
export function commandRig(
  services: FakeServices = {},
  ...answers: (string | undefined)[]
): CommandRig {
  const link = new FakeLink(services);
  const place = new FakePlace(...answers);
  const events = new Map<string, Handler>();
  let handler: Handler = () => undefined;
  let complete: Handler = () => undefined;
  let shortcut: Handler = () => undefined;
  registerCommand(
    {
      on: (name: string, run: Handler) => {
        events.set(name, run);
        return () => undefined;
      },
      registerCommand: (
        _name: string,
        options: { handler: Handler; getArgumentCompletions?: Handler },
      ) => {
        handler = options.handler;
        complete = options.getArgumentCompletions ?? complete;
      },
      registerShortcut: (_key: string, options: { handler: Handler }) => {
        shortcut = options.handler;
      },
    } as never,
    () => link,
  );
  events.get("session_start")?.({}, place);
  return {
    link,
    place,
    type: async (typed) => {
      await handler(typed, place);
      return place.said;
    },
    press: async () => {
      await shortcut(place);
      return place.said;
    },
    complete: (typed) => complete(typed),
    shutdown: () => void events.get("session_shutdown")?.(),
  };
}
