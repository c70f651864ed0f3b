/** Once faults stop, everything comes to its end. */
import { SourcePolicy } from "../../src/gen/piworkflows/host/v1/run_choices_pb.ts";
import type { RunRecord } from "../../src/host/records.ts";
import type { Reader } from "../../src/host/store/tx.ts";
import * as intents from "./intents.ts";
import { answerOpen, openOf, resolveOne } from "./steps.ts";
import type { SimHost } from "./sim-host.ts";
import type { SessionFile } from "./sim-pi.ts";
import type { World } from "./world.ts";

const ROUNDS_MAX = 400;
const ROUND_MS = 700;
const DELIVERIES = 6;
const LAST_EVENTS = 12;
const TERMINAL: ReadonlySet<string> = new Set(["completed", "failed", "timed_out", "cancelled"]);

/** Ends all faults and lets people and workers do what they should; reports what does not end. */
export async function calmDown(world: World): Promise<void> {
  world.author.calm = true;
  world.disk.unlock();
  world.disk.fill(world.host, false);
  world.endDeposed();
  world.power.disarm();
  world.mendWall();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (await everybodyWorks(world)) return;
    world.judge();
  }
  reportWhatIsLeft(world);
}

function reportWhatIsLeft({ host, people, report }: World): void {
  if (people.waiting > 0) report(`never answered: ${people.unanswered}`);
  if (host?.ready !== true) {
    report("no host serves");
    return;
  }
  const { reader } = host.store;
  for (const run of reader.runs.page({ limit: 100 }).filter(isOpen)) {
    const events = reader.events.ofRun(run.runId, run.revision - LAST_EVENTS, LAST_EVENTS);
    const last = events.map(({ kind, data }) => `${kind} ${JSON.stringify(data)}`).join("\n  ");
    report(`run ${run.runId} never ended: ${inWords(run)}\n  ${last}`);
  }
}

/** One round; true when there is nothing left to do. */
async function everybodyWorks(world: World): Promise<boolean> {
  await world.ensureHost();
  const { host } = world;
  workersWork(world);
  deliverMuch(world);
  await world.settle();
  world.clock.advance(ROUND_MS);
  await world.settle();
  if (host?.ready !== true || host.dead) return false;
  for (const file of world.sessions) await sessionWorks(world, file, host);
  return decideWhatIsOpen(world, host.store.reader);
}

function workersWork({ processes }: World): void {
  for (const { worker, engine, host } of processes.living) {
    worker.frozen = false;
    worker.stubborn = false;
    if (host.dead) engine.leaves("exit", 0);
    else if (engine.isBusy) engine.acts();
  }
}

function deliverMuch(world: World): void {
  const { host, people } = world;
  for (let count = 0; count < DELIVERIES; count += 1) {
    world.deliverAll();
    if (host?.ready === true && people.hasLetters) people.deliver(host);
  }
}

/** One Pi has it open, and its model does what it is asked. */
async function sessionWorks(world: World, file: SessionFile, host: SimHost): Promise<void> {
  const open = world.pis.filter((pi) => pi.file === file && !pi.dead);
  const pi = open[0] ?? world.openPi(file, true);
  for (const other of open.slice(1)) other.die();
  pi.calm = true;
  if (!pi.isAttached) pi.attach(host);
  await Promise.race([pi.acts(), world.settle()]);
}

function decideWhatIsOpen(world: World, reader: Reader): boolean {
  const { people } = world;
  if (people.waiting > 0) return false;
  const resolving = resolveOne(world, reader, people.key());
  const answering = answerOpen(world, reader, people.key());
  const submitting = openOf(reader, "agent").filter(({ status }) => status === "pending");
  const wanted = [resolving, answering].filter((one) => one !== undefined);
  for (const { interactionId, runId } of submitting.slice(0, 1)) {
    const session = reader.runs.get(runId)?.originSession ?? "";
    wanted.push(intents.submit(people.key(), interactionId, "a calm result", session));
  }
  const open = reader.runs.page({ limit: 100 }).filter(isOpen);
  for (const run of open) {
    const intent = nextFor(run, people.key());
    if (intent !== undefined) wanted.push(intent);
  }
  for (const intent of wanted) people.wants(intent);
  return open.length === 0 && wanted.length === 0 && world.processes.living.length === 0;
}

function nextFor(run: RunRecord, key: string): intents.Intent | undefined {
  const { runId, status, blockReason } = run;
  const isHeld = status === "blocked" && blockReason !== "effect_ambiguous";
  if (status !== "paused" && !isHeld) return undefined;
  // Whatever became of the file meanwhile.
  return intents.resume(key, runId, SourcePolicy.ACCEPT);
}

function isOpen({ status }: RunRecord): boolean {
  return !TERMINAL.has(status);
}

function inWords({ status, blockReason, node, detail }: RunRecord): string {
  return [status, blockReason, "at", node, detail].join(" ");
}
