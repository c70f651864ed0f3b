import type { Context } from "../../src/workflow/context.ts";
import type { EffectGrant, EffectRequest, NodeTools } from "../../src/worker/nodes/executor.ts";

/** What an executor under test said to the engine. */
export interface Heard {
  readonly effects: EffectRequest[];
  readonly processes: { readonly effectId: string; readonly pid: number }[];
  readonly updates: string[];
  readonly notes: string[];
  readonly printed: string[];
}

export interface TestTools extends NodeTools {
  readonly heard: Heard;
  abort(reason: Error): void;
}

/** The tools of one attempt of node `n`, which grant every effect as they are told to. */
export function testTools(grant: Partial<EffectGrant> = {}): TestTools {
  const controller = new AbortController();
  const heard: Heard = { effects: [], processes: [], updates: [], notes: [], printed: [] };
  return {
    node: "n",
    signal: controller.signal,
    deadlineMs: null,
    beginEffect: (request) => {
      heard.effects.push(request);
      return Promise.resolve({ effectId: "eff_1", key: "run_1:t:n:1", kind: "apply", ...grant });
    },
    effectProcess: (effectId, pid) => heard.processes.push({ effectId, pid }),
    publishUpdate: (text) => heard.updates.push(text),
    print: (_stream, text) => heard.printed.push(text),
    note: (point) => heard.notes.push(point),
    heard,
    abort: (reason) => controller.abort(reason),
  };
}

/** The context of the first attempt of a run. */
export function testContext(tools: NodeTools, fields: Partial<Context> = {}): Context {
  return Object.freeze({
    input: null,
    outputs: {},
    results: {},
    run: { id: "run_1", workflow: "w", projectDir: process.cwd(), visit: 1, attempt: 1 },
    signal: tools.signal,
    ...fields,
  });
}
