/** What must not grow during a soak, and by how much each thing may. */
import { judge } from "./drift.ts";
import type { Allowance, Judgement, Point } from "./drift.ts";
import type { Sample } from "./sampler.ts";

const SECOND_MS = 1_000;
/** A host that begins loads code, fills caches and finds its heap's size. */
const WARM_UP_MS = 90 * SECOND_MS;
/** Less says nothing: a heap that has not been collected yet looks like one that leaks. */
const STEADY_MS_MIN = 180 * SECOND_MS;

const MEMORY: Omit<Allowance, "what"> = { unit: "MB", noise: 8, perMinute: 0.4 };
/** Connections of clients that happen to be there. */
const DESCRIPTORS: Omit<Allowance, "what"> = { unit: "", noise: 10, perMinute: 0.1 };
/** A page of each table and index that has just been split, and what was not pruned yet. */
const DATABASE_NOISE_MB = 3;
/** A receipt is kept for ever, so that a repeat is recognised for ever: its row and its share of a page. */
const RECEIPT_MB = 0.6 / 1024;
/** A foreign reader, such as a backup, may pin the log for a while; then it is cut to 16 MiB again. */
const WAL_MB_MAX = 32;

/** Judgements of everything that was long enough under way. */
export function judgeAll(samples: readonly Sample[], retentionMs: number): readonly Judgement[] {
  return [
    ...lives(samples).flatMap(judgeLife),
    ...judgeDatabase(samples, retentionMs),
    judgeWal(samples),
  ];
}

interface Life {
  readonly epoch: number;
  readonly steady: readonly Sample[];
}

function lives(samples: readonly Sample[]): readonly Life[] {
  const byEpoch = Map.groupBy(samples, ({ epoch }) => epoch);
  byEpoch.delete(0);
  return [...byEpoch].map(([epoch, life]) => ({ epoch, steady: after(life, WARM_UP_MS) }));
}

function judgeLife({ epoch, steady }: Life): readonly Judgement[] {
  if (lengthMs(steady) < STEADY_MS_MIN) return [];
  const memory = steady.map(({ atMs, residentMb }) => ({ atMs, value: residentMb }));
  const descriptors = steady.map((sample) => ({ atMs: sample.atMs, value: sample.descriptors }));
  return [
    judge(memory, { ...MEMORY, what: `memory of host ${epoch}` }),
    judge(descriptors, { ...DESCRIPTORS, what: `descriptors of host ${epoch}` }),
  ];
}

/** From when on as much is deleted as is added. */
function judgeDatabase(samples: readonly Sample[], retentionMs: number): readonly Judgement[] {
  const steady = after(samples, retentionMs * 3);
  if (lengthMs(steady) < STEADY_MS_MIN) return [];
  const points = steady.map(({ atMs, databaseMb }) => ({ atMs, value: databaseMb }));
  const commands = (steady.at(-1)?.commands ?? 0) - (steady[0]?.commands ?? 0);
  const perMinute = (commands * RECEIPT_MB * 60 * SECOND_MS) / lengthMs(steady);
  const allowance = { what: "database", unit: "MB", noise: DATABASE_NOISE_MB, perMinute };
  return [judge(points, allowance)];
}

/** The log is written from its beginning again and again, so its largest size is what counts. */
function judgeWal(samples: readonly Sample[]): Judgement {
  const points: readonly Point[] = samples.map(({ atMs, walMb }) => ({ atMs, value: walMb }));
  const allowance = { what: "write-ahead log", unit: "MB", noise: WAL_MB_MAX, perMinute: 0 };
  const largest = Math.max(0, ...points.map(({ value }) => value));
  return { ...judge(points, allowance), end: largest, drifts: largest > WAL_MB_MAX };
}

function after(samples: readonly Sample[], ms: number): readonly Sample[] {
  const from = (samples[0]?.atMs ?? 0) + ms;
  return samples.filter(({ atMs }) => atMs >= from);
}

function lengthMs(samples: readonly Sample[]): number {
  return (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0);
}
