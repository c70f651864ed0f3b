/** What Pi finds in this package when it is given the whole of it. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { startMockModel } from "../support/pi/mock-model.ts";
import { newPiProfile } from "../support/pi/pi-profile.ts";
import { startPi } from "../support/pi/pi-rpc.ts";

test("the package brings its skill and its command", async () => {
  const profile = newPiProfile({ model: await startMockModel() });
  const pi = await startPi({ profile, extensions: [join(import.meta.dirname, "../..")] });
  const { commands } = await pi.call("get_commands");
  const names = commands.map(({ name }) => name);
  expect(names).toContain("workflow");
  expect(names).toContain("skill:workflows");
});
