/** Ways of runs through Pi sessions, the same whoever dies on them, and what is kept of each. */
import Database from "better-sqlite3";
import type { JsonValue } from "@bufbuild/protobuf";
import { toValue } from "../../src/cli/values.ts";
import { RunStatus } from "../../src/gen/piworkflows/common/v1/run_pb.ts";
import { TurnOutcome } from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import type { SessionMessage } from "../../src/gen/piworkflows/common/v1/session_pb.ts";
import { HeadlessSeat } from "./headless-seat.ts";
import { workflowFile } from "./journeys.ts";
import type { Kept } from "./kept.ts";
import { LastingPi } from "./lasting-pi.ts";
import type { PiFacts } from "./session-rig.ts";
import type { CleanUp } from "./real-host.ts";
import type { Ending, Voyage } from "./voyage.ts";

const { COMPLETED, STOPPED } = TurnOutcome;

export interface SessionJourney {
  go(voyage: Voyage, cleanUp: CleanUp): Promise<string>;
  readonly ending: Ending;
  readonly kept: Kept;
}

const SPOKEN: Ending = {
  status: RunStatus.COMPLETED,
  result: { number: 7, sum: "seven", choice: "yes" },
  done: ["think", "sum", "publish", "done"],
};
const SHOWN_ONCE = [
  "step think first delivered",
  "step sum first delivered",
  "human_decision publish first delivered",
  "result  first delivered",
];
const ASKED_ONCE: Kept = {
  messages: SHOWN_ONCE,
  turns: ["completed", "completed"],
  submissions: ["accepted "],
  changes: ["wait think", "validate think", "wait sum", "wait publish"],
};

export const SESSION_JOURNEYS = {
  /** Through every kind of request, the first of which is answered wrongly at first. */
  confers: {
    async go(voyage, cleanUp) {
      const pi = piOf(voyage, cleanUp);
      const runId = await startIn(voyage, pi);
      const think = await pi.take("think");
      await submit(voyage, "submit wrong", { think, value: "seven", accepted: false });
      await submit(voyage, "submit", { think, value: 7, accepted: true });
      await pi.settle(think, COMPLETED);
      await reply(pi);
      await decide(voyage, pi);
      return await seeEnd(voyage, pi, runId);
    },
    ending: SPOKEN,
    kept: {
      ...ASKED_ONCE,
      submissions: ["rejected refused", "accepted "],
      changes: [
        "wait think",
        "validate think",
        "reject think",
        "validate think",
        "wait sum",
        "wait publish",
      ],
    },
  },
  /** The run's steps move to another session while a turn works on one. */
  moves: {
    async go(voyage, cleanUp) {
      const pi = piOf(voyage, cleanUp);
      const other = piOf(voyage, cleanUp, OTHER);
      const runId = await startIn(voyage, pi);
      const think = await pi.take("think");
      await voyage.command("adopt", async (host, command) => {
        const { client, name } = await other.on(host);
        return await client.adoptRun({ ...name, command, runId });
      });
      const { abort } = await pi.until((picture) => picture.abort !== undefined);
      if (abort?.messageId !== think.messageId) throw new Error("another turn was asked to stop");
      await pi.settle(think, STOPPED);
      await think7(voyage, other);
      await reply(other);
      await decide(voyage, other);
      return await seeEnd(voyage, other, runId);
    },
    ending: SPOKEN,
    kept: {
      ...ASKED_ONCE,
      messages: [
        "step think first superseded",
        "step think resumed delivered",
        ...SHOWN_ONCE.slice(1),
      ],
      turns: ["stopped", "completed", "completed"],
      changes: ["wait think", "adopt think", ...ASKED_ONCE.changes.slice(1)],
    },
  },
  /** Pi comes and goes between the steps, and once its host does. */
  returns: {
    async go(voyage, cleanUp) {
      const pi = piOf(voyage, cleanUp);
      const runId = await startIn(voyage, pi);
      await think7(voyage, pi);
      await pi.leave();
      await reply(pi);
      await voyage.leave("kill");
      await pi.until(({ runs }) => runs[0]?.summary?.node === "publish");
      await pi.leave();
      await decide(voyage, pi);
      return await seeEnd(voyage, pi, runId);
    },
    ending: SPOKEN,
    kept: ASKED_ONCE,
  },
  /** The message that tells the end is missing when the next host starts. */
  untold: {
    async go(voyage, cleanUp) {
      const pi = piOf(voyage, cleanUp);
      const runId = await startIn(voyage, pi);
      await think7(voyage, pi);
      await reply(pi);
      await decide(voyage, pi);
      await voyage.untilStatus(runId, RunStatus.COMPLETED);
      const { paths } = await voyage.host();
      await voyage.leave("kill");
      const database = new Database(paths.database);
      database.prepare("DELETE FROM messages WHERE kind = 'result'").run();
      database.close();
      return await seeEnd(voyage, pi, runId);
    },
    ending: SPOKEN,
    kept: ASKED_ONCE,
  },
  /** The Pi of a headless run dies in the turn. */
  losesPi: {
    async go(voyage, cleanUp) {
      const seat = new HeadlessSeat(voyage);
      const runId = await startHeadless(voyage, "stay");
      const pi = new LastingPi({ voyage, facts: (host) => seat.facts(host, runId) }, cleanUp);
      await pi.take("think");
      seat.kill();
      pi.vanish();
      await think7(voyage, pi);
      await voyage.untilStatus(runId, RunStatus.COMPLETED);
      return runId;
    },
    ending: { status: RunStatus.COMPLETED, result: { number: 7 }, done: ["think", "done"] },
    kept: {
      messages: ["step think first superseded", "step think resumed delivered"],
      turns: ["lost", "completed"],
      submissions: ["accepted "],
      changes: ["wait think", "remind think", "validate think"],
    },
  },
  /** No Pi can be had, and the graph knows what then. */
  findsNoPi: {
    async go(voyage) {
      const runId = await startHeadless(voyage, "no-model");
      await voyage.untilStatus(runId, RunStatus.COMPLETED);
      return runId;
    },
    ending: {
      status: RunStatus.COMPLETED,
      result: { without: "pi_unavailable" },
      done: ["alone"],
    },
    kept: {
      messages: ["step think first cancelled"],
      turns: [],
      submissions: [],
      changes: ["wait think"],
    },
  },
} as const satisfies Readonly<Record<string, SessionJourney>>;

export type SessionJourneyName = keyof typeof SESSION_JOURNEYS;

const SESSION = "5e551011-0000-4000-8000-00000000000a";
const FACTS: PiFacts = {
  sessionId: SESSION,
  cwd: "/project",
  sessionFile: "/sessions/one.jsonl",
  mode: "rpc",
  pid: 1_000,
  takeOver: false,
  secret: "",
};
const OTHER = { sessionId: "5e551011-0000-4000-8000-00000000000b", pid: 1_001 };

function piOf(voyage: Voyage, cleanUp: CleanUp, own: Partial<PiFacts> = {}): LastingPi {
  return new LastingPi({ voyage, facts: () => ({ ...FACTS, ...own }) }, cleanUp);
}

/** The session is there before its run. */
async function startIn(voyage: Voyage, pi: LastingPi): Promise<string> {
  await pi.until(({ holder }) => holder);
  return await start(voyage, "confers", { originSession: SESSION });
}

async function startHeadless(voyage: Voyage, act: string): Promise<string> {
  return await start(voyage, "muses", { model: { args: ["--fake", act] } });
}

interface Where {
  readonly originSession?: string;
  readonly model?: { readonly args: string[] };
}

async function start(voyage: Voyage, workflow: string, where: Where): Promise<string> {
  const request = { workflow: workflowFile(workflow), projectDir: voyage.project, ...where };
  const { runId } = await voyage.command("start", ({ runs }, command) =>
    runs.startRun({ ...request, command }),
  );
  return runId;
}

interface Submitted {
  readonly think: SessionMessage;
  readonly value: JsonValue;
  readonly accepted: boolean;
}

/** The same verdict, however often it is asked for. */
async function submit(
  voyage: Voyage,
  key: string,
  { think, value, accepted }: Submitted,
): Promise<void> {
  const { interactionId } = think;
  await voyage.command(key, async ({ interactions }, command) => {
    const request = { command, interactionId, value: toValue("value", value) };
    const response = await interactions.submitResult(request);
    if (response.accepted !== accepted) throw new Error(`the verdict is: ${response.error}`);
    return response;
  });
}

async function think7(voyage: Voyage, pi: LastingPi): Promise<void> {
  const think = await pi.take("think");
  await submit(voyage, "submit", { think, value: 7, accepted: true });
  await pi.settle(think, COMPLETED);
}

async function reply(pi: LastingPi): Promise<void> {
  await pi.settle(await pi.take("sum"), COMPLETED, "seven");
}

async function decide(voyage: Voyage, pi: LastingPi): Promise<void> {
  const { interactionId } = await pi.take("publish");
  await voyage.command("decide", async (host, command) => {
    const { capability } = (await pi.on(host)).picture;
    return await host.interactions.answerDecision({
      command,
      interactionId,
      choice: "yes",
      capability,
    });
  });
}

async function seeEnd(voyage: Voyage, pi: LastingPi, runId: string): Promise<string> {
  await voyage.untilStatus(runId, RunStatus.COMPLETED);
  await pi.take("");
  return runId;
}
