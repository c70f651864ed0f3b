/**
 * The fuzzer: `npm run fuzz -- --minutes 10 [--seed 1] [--keep]`. With `--keep`, what
 * refuses in a way that the corpus does not know yet is shortened and kept there.
 */
import { parseArgs } from "node:util";
import { ConnectError } from "@connectrpc/connect";
import { answerOf } from "./answers.ts";
import { Campaign } from "./campaign.ts";
import { keepOrder, keepStream, keptOrders, keptStreams } from "./corpus.ts";
import { minimised } from "./minimise.ts";
import { play } from "./player.ts";
import { Target } from "./target.ts";
import { playWorker } from "./worker-round.ts";

const MINUTE_MS = 60_000;
const MIB = 1_048_576;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      keep: { type: "boolean", default: false },
    },
  });
  const end = Date.now() + Number(values.minutes) * MINUTE_MS;
  console.log(`seed ${values.seed}`);
  const target = await Target.start();
  const campaign = new Campaign(target, Number(values.seed));
  try {
    await campaign.run(() => Date.now() > end || campaign.findings.length > FINDINGS_MAX);
  } finally {
    await target.stop();
  }
  report(campaign, target);
  if (values.keep) await keep(campaign);
  return campaign.findings.length === 0 ? 0 : 1;
}

/** A host that is broken stays broken; there is no use in hearing it a thousand times. */
const FINDINGS_MAX = 50;

function report(campaign: Campaign, target: Target): void {
  const words = [...campaign.streams.keys(), ...campaign.orders.keys()].toSorted();
  console.log(`${campaign.played} streams and ${campaign.sabotaged} workers played`);
  console.log(`slowest clean answer ${Math.round(target.slowestMs)} ms`);
  console.log(`most memory ${Math.round(target.mostBytes / MIB)} MiB`);
  console.log(`${words.length} ways to answer:\n  ${words.join("\n  ")}`);
  console.log(`${campaign.findings.length} findings`);
}

/** Only what a host that has seen nothing else answers in the same way is kept. */
async function keep(campaign: Campaign): Promise<void> {
  const known = new Set([...keptStreams(), ...keptOrders()].map(({ word }) => word));
  const target = await Target.start();
  const does = async (bytes: Buffer, word: string): Promise<boolean> => {
    const [played] = await play(target, [bytes]);
    return played !== undefined && (await answerOf(played)).words.includes(word);
  };
  try {
    for (const [word, bytes] of campaign.streams) {
      if (known.has(word) || !isRefusal(word) || !(await does(bytes, word))) continue;
      keepStream({ word, bytes: await minimised(bytes, (shorter) => does(shorter, word)) });
    }
    for (const [word, order] of campaign.orders) {
      if (known.has(word) || !isRefusal(word)) continue;
      const { words } = await playWorker(target, order);
      if (words.includes(word)) keepOrder({ word, order });
    }
  } finally {
    await target.stop();
  }
}

const OTHERWISE = /^worker (?:ack|begin|bootstrap|effect|leaves|resolve|sabotaged|state)| ok$/;

function isRefusal(word: string): boolean {
  return !OTHERWISE.test(word);
}

// A call whose stream broke may fail once more, with nobody left to hear it.
process.on("unhandledRejection", (error) => {
  if (!(error instanceof ConnectError)) throw error;
});
process.exitCode = await main();
