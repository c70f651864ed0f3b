/** A resolver whose workers' answers the test gives. */
import { graphMessage } from "../../src/host/handlers/graph-convert.ts";
import { createResolver } from "../../src/host/resolver.ts";
import type { Resolver } from "../../src/host/resolver.ts";
import type { Wish } from "../../src/host/supervisor/supervised-worker.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeWorker, json } from "./fake-worker.ts";
import type { FrameBody } from "./fake-worker.ts";
import { HUB_GRAPH } from "./test-host.ts";

export const WANT = { workflowPath: "/project/hub.workflow.ts", projectDir: "/project" };
export const START = { ...WANT, inputJson: '{"n":1}' };

export class ResolverRig {
  readonly clock = new FakeClock();
  readonly wishes: Wish[] = [];
  readonly workers: FakeWorker[] = [];
  /** What `acquire` gives first; new workers after. */
  readonly prepared: (FakeWorker | Error)[] = [];
  readonly resolver: Resolver = createResolver({
    clock: this.clock,
    cacheDir: "/cache",
    supervisor: {
      acquire: async (wish) => {
        this.wishes.push(wish);
        const worker = this.prepared.shift() ?? new FakeWorker(this.clock);
        if (worker instanceof Error) throw worker;
        this.workers.push(worker);
        return worker;
      },
    },
  });

  /** The n-th worker that was taken, once it was asked. */
  async asked(index: number): Promise<FakeWorker> {
    await turn();
    const worker = this.workers[index];
    if (worker === undefined) throw new Error(`no worker ${index} was taken`);
    return worker;
  }
}

export function resolved(change: { inputJson?: Uint8Array; title?: string } = {}): FrameBody {
  return {
    case: "resolved",
    value: {
      graph: graphMessage(HUB_GRAPH),
      sources: [{ path: WANT.workflowPath, kind: 1, digest: "a".repeat(64), size: 3n }],
      inputJson: json({ n: 1 }),
      warnings: [{ message: "no edge leads to it", place: "nodes.lone" }],
      ...change,
    },
  };
}

export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
