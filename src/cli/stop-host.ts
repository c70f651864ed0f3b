/** Stopping a host and waiting until nothing is left of it. */
import type { HostClient } from "../client/host-client.ts";
import { HostUnreachableError } from "../client/host-error.ts";
import { livingHost } from "../client/host-file.ts";
import type { HostFile } from "../client/host-file.ts";
import { isAlive } from "../platform/process-identity.ts";
import { EffectStatus } from "../gen/piworkflows/common/v1/effect_pb.ts";
import type { Cli } from "./command.ts";

/** A host gives effects that are being applied ten seconds, and then stops within one. */
const STOP_MS_MAX = 30_000;
const POLL_MS = 10;
/** More effects at once than a host applies. */
const COUNTED_MAX = 100;

/**
 * Stops the host of the state folder and returns its pid once it is gone;
 * absent when none was running. A host of another version refuses to be talked
 * to, so a signal is always the second way.
 */
export async function stopHost(cli: Cli, now: boolean): Promise<number | undefined> {
  const host = livingHost(cli.paths());
  if (host === undefined) return undefined;
  if (!(await askToStop(cli, now))) process.kill(host.pid, "SIGTERM");
  await waitUntilGone(cli, host);
  return host.pid;
}

async function askToStop(cli: Cli, now: boolean): Promise<boolean> {
  let client: HostClient | undefined;
  try {
    const { connectHost } = await import("../client/host-client.ts");
    const { hostEntry } = cli;
    client = await connectHost({ paths: cli.paths(), startHost: false, hostEntry, pingMs: 5_000 });
    if (!now) await tellWait(cli, client);
    await client.host.shutdown({ now });
    return true;
  } catch {
    // Refused, frozen, or already on its way: the signal says the same without words.
    return false;
  } finally {
    client?.close();
  }
}

/** A stop that takes seconds and says nothing looks like one that hangs. */
async function tellWait(cli: Cli, client: HostClient): Promise<void> {
  const statuses = [EffectStatus.APPLYING];
  const { effects } = await client.effects.listEffects({ statuses, pageSize: COUNTED_MAX });
  if (effects.length === 0) return;
  const what = effects.length === 1 ? "effect that is" : "effects that are";
  cli.out.note(
    `waiting for ${effects.length} ${what} being applied, at most ten seconds; --now does not wait`,
  );
}

async function waitUntilGone(cli: Cli, host: HostFile): Promise<void> {
  const deadline = cli.clock.monotonic() + STOP_MS_MAX;
  while (isAlive(host)) {
    if (cli.clock.monotonic() >= deadline) {
      throw new HostUnreachableError(
        "no_answer",
        `the host (pid ${host.pid}) does not end; to end it by force: kill -9 ${host.pid}`,
        cli.paths().log,
      );
    }
    await new Promise<void>((resolve) => {
      cli.clock.after(POLL_MS, resolve);
    });
  }
}
