import { setTimeout as sleep } from "node:timers/promises";
import { compute, defineWorkflow } from "pi-workflows";

interface Input {
  readonly key: string;
  readonly how: "recovers" | "returns" | "fails" | "is-late" | "exits";
}

const LATE_MS = 400;

/** A step that fails as the input says: for a time, for good, by its deadline, or with its process. */
export default defineWorkflow<Input>({
  name: "fails",
  title: ({ input }) => input.key,
  startAt: "choose",
  nodes: {
    choose: compute<Input>({ run: ({ input }) => ({ how: input.how }) }),
    recovers: compute<Input>({
      retry: { maxAttempts: 3, backoffMs: 50 },
      run: ({ run: { attempt } }) => {
        if (attempt < 3) throw new Error("not yet");
        return "recovered";
      },
    }),
    // A back-off of more than five seconds is no worker's: the run waits for a timer.
    returns: compute<Input>({
      retry: { maxAttempts: 2, backoffMs: 6_000 },
      run: ({ run: { attempt } }) => {
        if (attempt < 2) throw new Error("not yet");
        return "returned";
      },
    }),
    fails: compute<Input>({
      run: ({ input }) => {
        throw new RangeError(`${input.key} fails for good`);
      },
    }),
    "is-late": compute<Input>({
      timeoutMs: LATE_MS,
      run: async ({ signal }) => {
        for (;;) await sleep(60_000, undefined, { signal });
      },
    }),
    exits: compute<Input>({ run: () => process.exit(7) }),
    routed: compute<Input>({ run: ({ results }) => results["exits"]?.error?.name }),
  },
  edges: [
    {
      from: "choose",
      switch: {
        on: "$.how",
        cases: {
          recovers: "recovers",
          returns: "returns",
          fails: "fails",
          "is-late": "is-late",
          exits: "exits",
        },
      },
    },
    { from: "exits", switch: { on: "$result.outcome", cases: { failed: "routed" } } },
  ],
});
