/** Another program at the database, as a person with a shell would be. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { CleanUp } from "./real-host.ts";

const LOCKS = `
const db = new (require("better-sqlite3"))(process.argv[1], { timeout: 10_000 });
db.exec(process.argv[2]);
console.log("locked");
process.stdin.on("end", () => { db.exec("ROLLBACK"); db.close(); }).resume();
`;

const WRITES = `
const db = new (require("better-sqlite3"))(process.argv[1], { timeout: 10_000 });
db.pragma("synchronous = OFF");
const write = db.prepare("INSERT INTO meta VALUES ('busy', ?) ON CONFLICT DO UPDATE SET value = excluded.value");
let count = 0;
let ended = false;
process.stdin.on("end", () => { ended = true; }).resume();
const turn = () => {
  if (ended) return db.close();
  for (let n = 0; n < 50; n += 1) write.run(String(count += 1));
  if (count === 50) console.log("writing");
  setImmediate(turn);
};
turn();
`;

/** Resolves when the write lock is held, with what gives it back. */
export async function lockDatabase(
  path: string,
  cleanUp: CleanUp,
  begin: "BEGIN IMMEDIATE" | "BEGIN EXCLUSIVE" = "BEGIN IMMEDIATE",
): Promise<() => Promise<void>> {
  return await run(LOCKS, [path, begin], cleanUp);
}

/** Resolves when it commits one write after another without a pause, with what ends that. */
export async function writeWithoutPause(
  path: string,
  cleanUp: CleanUp,
): Promise<() => Promise<void>> {
  return await run(WRITES, [path], cleanUp);
}

async function run(
  program: string,
  args: readonly string[],
  cleanUp: CleanUp,
): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ["-e", program, ...args], {
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
