/** How the session stands to the host, in Pi's footer: short, and silent where all is well and quiet. */
import { clockTime } from "../platform/text.ts";
import type { SessionRun } from "../gen/piworkflows/host/v1/session_service_pb.ts";
import { msOf } from "./run-words.ts";
import type { SessionLink } from "./session-link.ts";
import { isWorking, needsYou } from "./standing.ts";

type Standing = Pick<SessionLink, "state" | "picture" | "waking">;

/** The text of the footer; absent when there is nothing to say. */
export function statusText(link: Standing, now: number): string | undefined {
  const words = standing(link, now);
  return words === "" ? undefined : `workflow: ${words}`;
}

function standing(link: Standing, now: number): string {
  const { state } = link;
  switch (state.kind) {
    case "connecting":
      return "connecting";
    case "fenced":
      return "taken over by another Pi (/workflow here)";
    case "down":
      return "host down, reconnecting";
    case "unsupported":
      return state.reason;
    case "attached":
      return state.holder
        ? holding(link, now)
        : "standby, another Pi shows the steps (/workflow here)";
  }
}

/** The holder of the session says what keeps its steps. */
function holding({ picture, waking }: Standing, now: number): string {
  const heldUntil = msOf(picture?.heldUntil);
  if (heldUntil !== undefined && heldUntil > now) {
    return `held until ${clockTime(heldUntil)} (limit of the provider)`;
  }
  const isNext = picture?.present?.startsTurn === true;
  if (isNext && !waking.may) return `waiting for your turn: ${waking.why}`;
  return doing(picture?.runs ?? []);
}

/** What the user has to do comes before what goes on by itself. */
function doing(runs: readonly SessionRun[]): string {
  const waiting = runs.filter(needsYou).length;
  if (waiting > 0) return waiting === 1 ? "1 waits for you" : `${waiting} wait for you`;
  return runs.some(isWorking) ? "working" : "ready";
}
