import { describe, expect, test } from "vitest";
import type { NodeOutcome } from "../../../../src/worker/nodes/executor.ts";
import { execute } from "../../../../src/worker/nodes/index.ts";
import { TimeoutError } from "../../../../src/workflow/errors.ts";
import { action, idempotentEffect } from "../../../../src/workflow/nodes.ts";
import type { EffectObservation } from "../../../../src/workflow/nodes.ts";
import { testContext, testTools } from "../../../support/node-tools.ts";

describe("an action whose last application has an unknown outcome", () => {
  function observed(
    observation: () => EffectObservation | Promise<EffectObservation>,
    tools = testTools({ kind: "observe" }),
  ): Promise<NodeOutcome> {
    const effect = idempotentEffect("t", { observe: observation });
    return execute(action({ effect, run: () => "acted" }), testContext(tools), tools);
  }

  test("takes the output of what was found done", async () => {
    const outcome = await observed(() => ({ applied: true, output: { id: 3 } }));
    expect(outcome).toEqual({
      kind: "ok",
      outputJson: '{"id":3}',
      effect: { effectId: "eff_1", kind: "applied", receiptJson: '{"id":3}' },
    });
  });

  test("acts when it was not done", async () => {
    const outcome = await observed(() => ({ applied: false }));
    expect(outcome).toMatchObject({ kind: "ok", outputJson: '"acted"' });
  });

  test.each<[string, () => EffectObservation]>([
    ["cannot tell", () => undefined],
    [
      "fails",
      () => {
        throw new Error("no route to host");
      },
    ],
  ])("stays unknown when the look %s", async (_name, observation) => {
    expect(await observed(observation)).toMatchObject({
      kind: "unknown",
      effect: { kind: "unknown" },
    });
  });

  test("times out when the look takes too long", async () => {
    const tools = testTools({ kind: "observe" });
    const outcome = await observed(() => {
      tools.abort(new TimeoutError("n", 5));
      return undefined;
    }, tools);
    expect(outcome).toMatchObject({ kind: "timed_out", effect: { kind: "unknown" } });
  });
});
