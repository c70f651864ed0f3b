/** Asking the person at the terminal. Callers make sure that there is one. */
import { createInterface } from "node:readline";

/** The line that was typed; absent when the person left with Ctrl-C or Ctrl-D. */
export async function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  return await new Promise((resolve) => {
    lines.once("close", () => resolve(undefined));
    lines.once("SIGINT", () => lines.close());
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

/** True only for a plain yes. */
export async function confirm(question: string): Promise<boolean> {
  const answer = await ask(`${question} [y/N] `);
  return answer !== undefined && /^y(?:es)?$/i.test(answer.trim());
}
