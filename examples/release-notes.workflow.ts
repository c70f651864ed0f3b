import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  action,
  agent,
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  idempotentEffect,
  notify,
  shell,
  textInput,
} from "pi-workflows";

interface Input {
  readonly since: string;
}

interface Outputs {
  readonly collect: { readonly log: string };
  readonly draft: { readonly notes: string };
  readonly review: { readonly choice: string; readonly wish?: string };
  readonly [node: string]: unknown;
}

const choices = defineHumanChoices({
  write: choice({ label: "Write the file" }),
  revise: choice({
    label: "Change something",
    input: textInput({ name: "wish", prompt: "What should change?", minLength: 3 }),
  }),
  drop: choice({ label: "Drop it" }),
});

export default defineWorkflow<Input, Outputs>({
  name: "release-notes",
  title: ({ input }) => `notes since ${input.since}`,
  input: (value) => {
    const { since } = (value ?? {}) as Partial<Input>;
    if (typeof since !== "string" || since.startsWith("-")) throw new TypeError("since: a git tag");
    return { since };
  },
  startAt: "collect",
  maxSteps: 30, // the bound of the loop below
  nodes: {
    collect: shell<Input, Outputs, { log: string }>({
      effect: idempotentEffect("git.log"), // harmless to repeat
      exec: ({ input }) => ({ command: "git", args: ["log", "--oneline", `${input.since}..HEAD`] }),
      parse: ({ stdout }) => ({ log: stdout }),
    }),
    draft: agent<Input, Outputs, { notes: string }>({
      statusDetail: "writing the notes",
      prompt: ({ outputs, results }) =>
        [
          `Write release notes in Markdown for these commits:\n${outputs.collect.log}`,
          // `results` also knows nodes that have not run in this visit.
          results["review"] === undefined ? "" : `The editor wishes: ${outputs.review.wish}`,
        ].join("\n\n"),
      expectedOutput: '{ "notes": "the release notes as Markdown" }',
      schema: {
        type: "object",
        properties: { notes: { type: "string", minLength: 20 } },
        required: ["notes"],
        additionalProperties: false,
      },
      validate: (value) => {
        const { notes } = value as { notes: string };
        // What is thrown is what the model is told; it corrects the result and submits again.
        if (!notes.startsWith("# ")) throw new Error("notes must begin with a heading: # …");
        return { notes };
      },
      timeoutMs: 3_600_000,
    }),
    review: humanDecision<Input, Outputs, typeof choices>({
      audience: "whoever publishes the release",
      choices,
      request: ({ outputs }) => ({ title: "Write the notes?", subject: outputs.draft.notes }),
    }),
    write: action<Input, Outputs>({
      effect: idempotentEffect("notes.write"), // the same file again does no harm
      run: async ({ outputs, run }) => {
        const file = join(run.projectDir, "RELEASE-NOTES.md");
        await writeFile(file, outputs.draft.notes);
        return { file };
      },
    }),
    tell: notify<Input, Outputs>({ message: "The notes are in RELEASE-NOTES.md.", kind: "final" }),
    dropped: compute({ run: () => ({ file: null }) }),
    late: compute({ run: () => ({ file: null, late: true }) }),
  },
  edges: [
    { from: "collect", to: "draft" },
    // How a step ended can be routed; what nothing routes ends the run with that outcome.
    {
      from: "draft",
      switch: { on: "$result.outcome", cases: { ok: "review", failed: "late", timed_out: "late" } },
    },
    humanDecisionEdge({
      from: "review",
      choices,
      cases: { write: "write", revise: "draft", drop: "dropped" },
    }),
    { from: "write", to: "tell" },
  ],
});
