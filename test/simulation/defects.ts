/**
 * Deliberate defects: each is put into the source as it is loaded, and each must be
 * found by the simulation. A list that finds nothing would mean that the machinery
 * is blind, not that the program is right.
 */

export interface Edit {
  /** Path below `src`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Defect {
  readonly name: string;
  /** What goes wrong then. */
  readonly means: string;
  readonly edits: readonly Edit[];
}

export const DEFECTS: readonly Defect[] = [
  {
    name: "fence-ignores-generation",
    means: "a frame that names another generation is accepted",
    edits: [
      {
        file: "host/store/doors.ts",
        find: 'if (claim.generation !== proof.generation) throw lost("generation_changed", proof);',
        replace: "",
      },
    ],
  },
  {
    name: "expired-claim-renews",
    means: "a claim whose lease has run out renews itself",
    edits: [
      {
        file: "host/store/doors.ts",
        find: 'if (claim.expiry <= host.leaseNow()) throw lost("expired", proof);',
        replace: "",
      },
    ],
  },
  {
    name: "receipt-in-second-transaction",
    means: "a crash between the two lets a command be done again",
    edits: [
      {
        file: "host/store/doors.ts",
        find: "tx.put.command(receipt);",
        replace:
          'setImmediate(() => void host.store.write("receipt", (later) => later.put.command(receipt)).catch(() => undefined));',
      },
    ],
  },
  {
    name: "epoch-not-checked",
    means: "a host whose place was taken goes on writing",
    edits: [
      {
        file: "host/store/doors.ts",
        find: "if (newest === host.epoch) return body(tx);",
        replace: "if (newest > 0) return body(tx);",
      },
    ],
  },
  {
    name: "answer-before-commit",
    means: "what was acknowledged is lost by a crash before the COMMIT",
    edits: [
      {
        file: "host/store/group-commit.ts",
        find: "return { write, value, effects };",
        replace: "write.resolve(value); return { write, value, effects };",
      },
    ],
  },
  {
    name: "repeat-not-recognised",
    means: "a frame that is sent again is refused although it was accepted",
    edits: [
      {
        file: "host/store/doors.ts",
        find: "if (repeated !== undefined) return JSON.parse(repeated) as T;",
        replace: "",
      },
    ],
  },
  {
    name: "manual-effect-tried-again",
    means: "an effect of unknown outcome is applied a second time",
    edits: [
      {
        file: "host/operations/effect-rows.ts",
        find: 'again && effect.policy === "idempotent"',
        replace: "again",
      },
      {
        file: "host/operations/interruption.ts",
        find: "return isManual(effect) ? effect.effectId : undefined;",
        replace: "return undefined;",
      },
    ],
  },
  {
    name: "recovery-reaps-nobody",
    means: "a run is given to a second process while the first still lives",
    edits: [
      {
        file: "host/recovery.ts",
        find: "const { processes } = await supervisor.reap(left.map((worker) => traceOf(host, worker)));",
        replace: "const processes = left.map((worker) => traceOf(host, worker)).length;",
      },
    ],
  },
  {
    name: "timer-fires-early",
    means: "a run goes on before its time",
    edits: [
      {
        file: "host/operations/settle.ts",
        find: "timer.dueAt > at",
        replace: "timer.dueAt > at + 4_000",
      },
      {
        file: "host/operations/timers.ts",
        find: "...timers.due(now, DUE_PAGE)",
        replace: "...timers.due(now + 4_000, DUE_PAGE)",
      },
    ],
  },
  {
    name: "recovery-forgets-the-running",
    means: "a run whose host died executes for ever, with nobody at it",
    edits: [
      {
        file: "host/recovery.ts",
        find: 'const OWNED: readonly RunStatus[] = ["starting", "running"];',
        replace: 'const OWNED: readonly RunStatus[] = ["starting"];',
      },
    ],
  },
  {
    name: "cancel-leaves-its-message",
    means: "a session is asked about a run that has ended",
    edits: [
      {
        file: "host/operations/session-messages.ts",
        find: "  withdraw(step, interaction);\n  if (why === undefined) return;",
        replace: "  if (why === undefined) return;",
      },
    ],
  },
  {
    name: "delivered-message-shown-again",
    means: "a message that stands in its session is shown once more",
    edits: [
      {
        file: "host/operations/message-rows.ts",
        find: 'const seen = { status: messageLifecycle.next(offered, "see"), entryId, deliveredAt: at };',
        replace: 'const seen = { status: "offered" as const, entryId, deliveredAt: at };',
      },
    ],
  },
  {
    name: "prune-takes-the-ambiguous",
    means: "a run is deleted whose effect a person has yet to look at",
    edits: [
      {
        file: "host/operations/retention.ts",
        find: "reader.effects.unsettled(runId).length > 0 ||",
        replace: "",
      },
    ],
  },
  {
    name: "receipt-not-looked-at",
    means: "a command that is sent again is done again",
    edits: [
      {
        file: "host/store/doors.ts",
        find: "if (stored !== undefined) return adopted<T>(stored, request);",
        replace: "",
      },
    ],
  },
];
