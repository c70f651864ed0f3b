/** Another program that holds the database's write lock, as a person with a shell would. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { CleanUp } from "./voyage.ts";

const PROGRAM = `
const db = new (require("better-sqlite3"))(process.argv[1], { timeout: 10_000 });
db.exec("BEGIN IMMEDIATE");
console.log("locked");
process.stdin.on("end", () => { db.exec("ROLLBACK"); db.close(); }).resume();
`;

/** Resolves when the lock is held, with what gives it back. */
export async function lockDatabase(path: string, cleanUp: CleanUp): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ["-e", PROGRAM, path], {
    cwd: import.meta.dirname,
    stdio: ["pipe", "pipe", "inherit"],
  });
  cleanUp(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  await once(createInterface({ input: child.stdout }), "line");
  return async () => {
    child.stdin.end();
    await exited;
  };
}
