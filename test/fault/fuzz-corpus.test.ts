// What the fuzzer has found and kept: each stream and each order to a worker is refused in the way
// that its name says, by a host that goes on as if nothing had been.
import { expect, onTestFinished, test } from "vitest";
import { answerOf } from "../fuzz/answers.ts";
import { Campaign } from "../fuzz/campaign.ts";
import { keptOrders, keptStreams } from "../fuzz/corpus.ts";
import { play } from "../fuzz/player.ts";
import { Target } from "../fuzz/target.ts";
import { playWorker } from "../fuzz/worker-round.ts";

/** Streams that a few seeds play, beside the corpus. */
const STREAMS = 64;

async function target(): Promise<Target> {
  const started = await Target.start();
  onTestFinished(() => started.stop());
  return started;
}

test("every kept stream is refused as before, and the host is well", async () => {
  const host = await target();
  await host.settle();
  const kept = keptStreams();
  expect(kept.length).toBeGreaterThan(0);
  for (const { word, bytes } of kept) {
    const answers = await Promise.all((await play(host, [bytes])).map(answerOf));
    const words = answers.flatMap((one) => one.words);
    const faults = answers.flatMap((one) => one.faults);
    expect({ word, words, faults }).toEqual({
      word,
      words: expect.arrayContaining([word]) as unknown,
      faults: [],
    });
  }
  expect(await host.ailments()).toEqual([]);
});

test("every kept sabotage of a worker is refused as before, and the host is well", async () => {
  const host = await target();
  await host.settle();
  const kept = keptOrders();
  expect(kept.length).toBeGreaterThan(0);
  for (const { word, order } of kept) {
    const { words, findings } = await playWorker(host, order);
    expect({ order, words, findings }).toEqual({
      order,
      words: expect.arrayContaining([word]) as unknown,
      findings: [],
    });
  }
  expect(await host.ailments()).toEqual([]);
});

test.each([1, 2])("what seed %i makes of real streams harms nobody", async (seed) => {
  const host = await target();
  const campaign = new Campaign(host, seed);
  await campaign.run(() => campaign.played >= STREAMS && campaign.sabotaged > 0);
  expect(campaign.findings).toEqual([]);
  expect(campaign.streams.size).toBeGreaterThan(3);
});
