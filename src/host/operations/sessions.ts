import { sessionLifecycle } from "../lifecycle/session.ts";
import type { SessionRecord } from "../records-sessions.ts";
import { system } from "../store/doors.ts";
import type { HostContext } from "../context.ts";

/** What a Pi process tells of the session it has open. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly cwd: string;
  /** Empty for a session that is kept in memory only. */
  readonly sessionFile: string;
  /** The run whose own Pi this is. */
  readonly headlessRun?: string;
}

/**
 * Another attachment holds the session from now on; returns the coordinator epoch
 * that begins with it. What earlier holders reported stays.
 */
export function attachSession(host: HostContext, facts: SessionFacts): Promise<number> {
  return system(host, "attach_session", (tx) => {
    const at = host.clock.now();
    const { sessionId } = facts;
    const known = tx.sessions.get(sessionId);
    if (known === undefined) {
      tx.put.session(newSession(facts, at));
      return 1;
    }
    const coordinatorEpoch = known.coordinatorEpoch + 1;
    const event = known.status === "attached" ? "take_over" : "attach";
    tx.put.sessionChange(sessionId, {
      ...facts,
      status: sessionLifecycle.next(known.status, event),
      coordinatorEpoch,
      updatedAt: at,
    });
    return coordinatorEpoch;
  });
}

/** Nobody holds the session any more. A repeat changes nothing. */
export function detachSession(host: HostContext, sessionId: string): Promise<void> {
  return system(host, "detach_session", (tx) => {
    const known = tx.sessions.get(sessionId);
    if (known?.status !== "attached") return;
    const status = sessionLifecycle.next(known.status, "detach");
    tx.put.sessionChange(sessionId, { status, updatedAt: host.clock.now() });
  });
}

/** After a start nobody holds a session, whatever the host before left behind. Returns how many. */
export function detachAll(host: HostContext): Promise<number> {
  return system(host, "detach_sessions", (tx) => {
    const left = tx.sessions.attached();
    for (const { sessionId, status } of left) {
      tx.put.sessionChange(sessionId, {
        status: sessionLifecycle.next(status, "detach"),
        updatedAt: host.clock.now(),
      });
    }
    return left.length;
  });
}

function newSession(facts: SessionFacts, at: number): SessionRecord {
  return {
    ...facts,
    coordinatorEpoch: 1,
    status: "attached",
    heldCount: 0,
    createdAt: at,
    updatedAt: at,
  };
}
