import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startMockModel } from "../support/pi/mock-model.ts";
import { newPiProfile } from "../support/pi/pi-profile.ts";
import { startPi } from "../support/pi/pi-rpc.ts";
import { ms, report } from "./report.ts";
import { median } from "./statistics.ts";

const EXTENSION = join(import.meta.dirname, "../../dist/extension/index.js");
const STARTS = 7;
/** What the kernel counts processor time in. */
const TICK_MS = 10;

// Pi answers its first call after all handlers of session_start have returned. Processor time, for
// that is what the extension adds, whatever else the machine does.
test.runIf(existsSync("/proc/self/stat"))("Pi's start with the extension", async () => {
  const profile = newPiProfile({ model: await startMockModel() });
  const start = async (extensions: readonly string[]): Promise<number> => {
    const pi = await startPi({ profile, extensions });
    const used = processorMs(pi.pid);
    await pi.quit();
    return used;
  };
  // What Pi compiles is kept from then on.
  await start([EXTENSION]);
  const bare: number[] = [];
  const loaded: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    bare.push(await start([]));
    loaded.push(await start([EXTENSION]));
  }
  const [without, withIt] = [median(bare), median(loaded)];
  const reference = `${ms(withIt)} against ${ms(without)} of processor time`;
  report({
    measure: "Pi's start, more with the extension",
    value: withIt - without,
    unit: "ms",
    bound: { is: "at most", value: 150 },
    reference,
  });
  const ratio = report({
    measure: "Pi's start with the extension, of one without",
    value: withIt / without,
    unit: "x",
    bound: { is: "at most", value: 1.4 },
    reference,
  });
  expect(ratio).toMatchObject({ reached: true });
});

function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // After the program's name, which may hold spaces, the 12th and 13th field.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
