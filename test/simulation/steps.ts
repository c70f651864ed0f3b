/** What may happen in a world, and how often. */
import { Resolution } from "../../src/gen/piworkflows/host/v1/effect_service_pb.ts";
import { SourcePolicy } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import type { InteractionRecord } from "../../src/host/records-sessions.ts";
import type { Reader } from "../../src/host/store/tx.ts";
import * as intents from "./intents.ts";
import { effectKey } from "./author.ts";
import { killedBy } from "./sim-worker.ts";
import type { CrashKind } from "./power.ts";
import type { World } from "./world.ts";

const WEIGHTS = {
  deliver: 40,
  act: 26,
  ask: 20,
  pi: 12,
  tick: 9,
  repeat: 2,
  thaw: 1.5,
  kill: 1.5,
  freeze: 2,
  oversleep: 0.8,
  usePi: 1.5,
  crash: 1.5,
  release: 1,
  jump: 0.8,
  lock: 0.6,
  fill: 0.6,
  misquote: 0.5,
  duplicate: 1,
  edit: 0.3,
  maintain: 0.3,
  stop: 0.3,
  usurp: 0.3,
  endDeposed: 0.6,
  setWall: 0.2,
} as const;

type StepName = keyof typeof WEIGHTS;

const RUNS_MAX = 14;
const HOUR_MS = 3_600_000;
/** A claim lasts 8 s. */
const OVERSLEPT_S = 10;
const CRASHES: readonly CrashKind[] = ["before", "torn", "after"];

/** One step; the text says what it was. */
export async function step(world: World): Promise<string> {
  const name = world.random.weighted(WEIGHTS);
  const told = await STEPS[name](world);
  return `${name}${typeof told === "string" ? ` ${told}` : ""}`;
}

const STEPS: Readonly<Record<StepName, (world: World) => unknown>> = {
  deliver,
  act,
  ask: (world) => ask(world),
  // A host that dies in between never answers.
  pi: async (world) => Promise.race([world.random.pick(world.pis)?.acts(), world.settle()]),
  tick: ({ clock, random }) => clock.advance(200 + random.below(3_500)),
  repeat: ({ people }) => people.repeat(),
  thaw: (world) => setFrozen(world, false),
  freeze: (world) => setFrozen(world, true),
  oversleep,
  kill: ({ processes, random }) => random.pick(processes.living)?.worker.dies(killedBy("signal")),
  usePi,
  crash: (world) => crash(world),
  release: (world) => {
    world.disk.unlock();
    world.disk.fill(world.host, false);
  },
  jump: ({ clock, random }) => clock.jump(random.below(40_000)),
  lock: (world) => world.disk.lock(world.host),
  fill: (world) => world.disk.fill(world.host, true),
  misquote: ({ processes, random }) => {
    const speaking = processes.living.filter(({ worker }) => worker.outbox.length > 0);
    const process = random.pick(speaking);
    if (process !== undefined) processes.misquote(process);
  },
  duplicate: ({ processes, random }) => {
    const speaking = processes.living.filter(({ worker }) => worker.outbox.length > 0);
    const process = random.pick(speaking);
    if (process !== undefined) processes.repeat(process);
  },
  edit: (world) => {
    world.edit(`version ${world.random.below(3)}`);
  },
  maintain: ({ host }) => {
    if (host?.ready === true) host.store.maintain();
  },
  stop: (world) => world.stopHost(),
  usurp: (world) => world.usurp(),
  endDeposed: (world) => world.endDeposed(),
  setWall: (world) => world.setWall((world.random.chance(0.5) ? 1 : -1) * HOUR_MS),
};

/** A handful of things arrive somewhere. */
function deliver(world: World): string {
  const { random, processes, people } = world;
  const told: string[] = [];
  for (let count = 1 + random.below(10); count > 0; count -= 1) {
    const host = world.deposed !== undefined && random.chance(0.3) ? world.deposed : world.host;
    if (host?.ready === true && people.hasLetters && random.chance(0.4)) {
      told.push(people.deliver(host));
    } else {
      const process = random.pick(processes.reachable);
      if (process !== undefined) told.push(processes.deliver(process));
    }
  }
  return told.join(", ");
}

/** The code of some nodes gets a moment. */
function act(world: World): string {
  return Array.from({ length: 1 + world.random.below(3) }, () => actOnce(world)).join(" ");
}

function actOnce({ processes, random }: World): string {
  const busy = processes.living.filter(({ engine, worker, host }) => {
    if (worker.frozen) return false;
    return engine.isBusy || host.dead;
  });
  const process = random.pick(busy);
  if (process === undefined) return "";
  // A worker whose host is gone ends by itself, sooner or later.
  if (process.host.dead && random.chance(0.4)) process.engine.leaves("exit", 0);
  else process.engine.acts();
  return process.worker.id;
}

function setFrozen({ processes, random }: World, frozen: boolean): string {
  const process = random.pick(processes.living.filter(({ worker }) => worker.frozen !== frozen));
  if (process === undefined) return "";
  process.worker.frozen = frozen;
  process.worker.stubborn = random.chance(0.3);
  return process.worker.id;
}

/** A worker that has something to say is stopped for longer than its lease, and then says it. */
async function oversleep(world: World): Promise<string> {
  const { processes, random, clock } = world;
  const process = random.pick(
    processes.living.filter(({ worker, engine, host }) => {
      return !host.dead && !worker.frozen && (engine.isBusy || worker.outbox.length > 0);
    }),
  );
  if (process === undefined) return "";
  const { worker, engine } = process;
  if (worker.outbox.length === 0) engine.acts();
  worker.frozen = true;
  for (let second = 0; second < OVERSLEPT_S; second += 1) {
    clock.advance(1_000);
    await world.settle();
  }
  worker.frozen = false;
  return `${worker.id}: ${processes.deliver(process)}`;
}

function crash(world: World): string {
  const { random } = world;
  if (random.chance(0.3)) {
    world.crashNow();
    return "now";
  }
  const kind = random.pick(CRASHES) ?? "after";
  world.power.arm(kind, random.below(6));
  return kind;
}

async function usePi(world: World): Promise<string> {
  const { random, pis, sessions } = world;
  const { host } = world;
  const open = pis.filter((pi) => !pi.dead);
  const pi = random.pick(open);
  const choice = random.below(4);
  if (pi === undefined || (choice === 0 && open.length < 4)) {
    const file = random.pick(sessions);
    if (file === undefined) return "";
    world.openPi(file, random.chance(0.5));
    return `opens ${file.sessionId}`;
  }
  if (choice === 1) pi.die();
  else if (choice === 2) pi.goBack();
  else if (host?.ready === true) pi.attach(host);
  return `${choice}`;
}

/** Somebody wants something. */
function ask(world: World): string {
  const { random, people, host } = world;
  if (host?.ready !== true) return "";
  const { reader } = host.store;
  const runs = reader.runs.page({ limit: 100 });
  const runId = random.pick(runs)?.runId ?? "";
  const key = people.key();
  const wanted = random.weighted({
    start: runs.length < RUNS_MAX ? 5 : 0,
    answer: 6,
    submit: 4,
    resolve: 3,
    pause: 1,
    resume: 2,
    cancel: 0.8,
    restart: runs.length < RUNS_MAX ? 0.4 : 0,
    prune: 1,
  });
  const intent = INTENTS[wanted]({ world, reader, runId, key });
  if (intent !== undefined) people.wants(intent);
  return wanted;
}

interface Wish {
  readonly world: World;
  readonly reader: Reader;
  readonly runId: string;
  readonly key: string;
}

type Wanted =
  | "start"
  | "answer"
  | "submit"
  | "resolve"
  | "pause"
  | "resume"
  | "cancel"
  | "restart"
  | "prune";

const INTENTS: Readonly<Record<Wanted, (wish: Wish) => intents.Intent | undefined>> = {
  start: ({ world: { random, sessions, clock }, key }) =>
    intents.start(key, {
      originSession: random.chance(0.6) ? (random.pick(sessions)?.sessionId ?? "") : "",
      priority: random.below(3),
      notBefore: random.chance(0.1) ? clock.now() + random.below(20_000) : undefined,
    }),
  answer: ({ world, reader, key }) => answerOpen(world, reader, key),
  submit: ({ world: { random }, reader, key }) => {
    const open = openOf(reader, "agent");
    const interaction = random.pick(open);
    if (interaction === undefined) return undefined;
    const session = reader.runs.get(interaction.runId)?.originSession ?? "";
    return intents.submit(key, interaction.interactionId, `a result by ${key}`, session);
  },
  resolve: ({ world, reader, key }) => resolveOne(world, reader, key),
  pause: ({ world: { random }, runId, key }) => intents.pause(key, runId, random.chance(0.3)),
  resume: ({ world: { random }, runId, key }) => {
    const policies = [SourcePolicy.UNSPECIFIED, SourcePolicy.RECORDED, SourcePolicy.ACCEPT];
    return intents.resume(key, runId, random.pick(policies) ?? SourcePolicy.UNSPECIFIED);
  },
  cancel: ({ world: { processes, random }, runId, key }) => {
    // What takes two steps at the right moment would hardly ever come to be by chance.
    const applying = random.pick(processes.living.filter(({ engine }) => engine.isApplying));
    const isMean = random.chance(0.5);
    return intents.cancel(key, (isMean ? applying?.worker.boundTo?.runId : undefined) ?? runId);
  },
  restart: ({ runId, key }) => intents.restart(key, runId),
  prune: ({ world: { random }, key }) => intents.prune(key, random.below(6) * 1_000),
};

export function openOf(reader: Reader, kind: string): readonly InteractionRecord[] {
  const all = reader.interactions.page({ includeClosed: false, limit: 100 });
  return all.filter((one) => one.kind === kind);
}

export function answerOpen(
  { random, host }: World,
  reader: Reader,
  key: string,
): intents.Intent | undefined {
  const open = [...openOf(reader, "checkpoint"), ...openOf(reader, "human_decision")];
  const interaction = random.pick(open);
  if (interaction === undefined || host === undefined) return undefined;
  const { interactionId, kind } = interaction;
  if (kind === "checkpoint") return intents.answer(key, interactionId, `an answer by ${key}`);
  const choice = random.chance(0.5) ? "yes" : "no";
  return intents.decide(key, interactionId, choice, host.capabilities.issue());
}

/** A person looks what became of it outside, once nothing of the run's lives any more. */
export function resolveOne(
  { random, processes, outside }: World,
  reader: Reader,
  key: string,
): intents.Intent | undefined {
  const ambiguous = reader.effects.page({ statuses: ["ambiguous"], limit: 100 });
  const effect = random.pick(
    ambiguous.filter(
      ({ runId }) => !processes.living.some(({ worker }) => worker.boundTo?.runId === runId),
    ),
  );
  if (effect === undefined) return undefined;
  const isApplied = outside.has(effectKey(effect));
  const otherwise = random.chance(0.5) ? Resolution.NOT_APPLIED : Resolution.RETRY;
  return intents.resolve(key, effect.effectId, isApplied ? Resolution.APPLIED : otherwise);
}
