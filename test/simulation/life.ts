/** One seed from its beginning to its end. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../src/platform/ids.ts";
import { calmDown } from "./calm.ts";
import { step } from "./steps.ts";
import { Broken, World } from "./world.ts";

/** A look at everything, beside that at what has changed. */
const ALL_EVERY = 20;

export interface LifeResult {
  readonly seed: number;
  readonly steps: number;
  /** Absent when nothing was found. */
  readonly fault: string | undefined;
  readonly trace: readonly string[];
  /** The same for the same life. */
  readonly digest: string;
  /** What happened how often. */
  readonly counts: ReadonlyMap<string, number>;
}

export async function live(seed: number, steps: number, folder: string): Promise<LifeResult> {
  const root = join(folder, `seed-${seed}`);
  mkdirSync(root, { recursive: true });
  const world = new World(seed, root);
  const restore = chanceOf(world);
  let done = 0;
  let fault: string | undefined;
  try {
    await world.begin();
    for (; done < steps; done += 1) await one(world, done);
    world.trace.push("calm");
    await calmDown(world);
    if (world.host !== undefined) world.books.checkAll(world.host.store.reader);
    world.judge();
  } catch (error) {
    fault = error instanceof Broken ? error.message : inWords(error);
  } finally {
    await world.close();
    restore();
  }
  const { trace, hostsBegun, books } = world;
  const counts = new Map([["hosts", hostsBegun], ...books.kinds]);
  return { seed, steps: done, fault, trace, counts, digest: digestOf(trace) };
}

async function one(world: World, number: number): Promise<void> {
  if (world.random.chance(0.5)) await world.ensureHost();
  const told = await step(world);
  world.trace.push(`${number}: ${told}`);
  await world.settle();
  const { host } = world;
  if (host?.ready === true) {
    if (number % ALL_EVERY === ALL_EVERY - 1) world.books.checkAll(host.store.reader);
    else world.books.check(host.store.reader);
  }
  world.judge();
}

/** The program's own chance is the seed's too. */
function chanceOf(world: World): () => void {
  const { random } = Math;
  Math.random = () => world.random.next();
  return () => {
    Math.random = random;
  };
}

function inWords(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Ids differ from life to life; in which order they appear does not. */
function digestOf(trace: readonly string[]): string {
  const known = new Map<string, number>();
  const text = trace.join("\n").replaceAll(/[a-z]{3}_[0-9a-z]{26}/g, (id) => {
    const number = known.get(id) ?? known.size;
    known.set(id, number);
    return `#${number}`;
  });
  return sha256Hex(text);
}
