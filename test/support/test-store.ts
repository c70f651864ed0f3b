import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { HostContext } from "../../src/host/context.ts";
import type { Store, StoreOptions } from "../../src/host/store/store.ts";
import { openStore } from "../../src/host/store/store.ts";
import { newId } from "../../src/platform/ids.ts";
import { FakeClock } from "./fake-clock.ts";
import { memoryLog } from "./memory-log.ts";
import type { LogLine } from "./memory-log.ts";

/** A folder that is gone when the test has ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface TestStore {
  readonly store: Store;
  readonly path: string;
  readonly clock: FakeClock;
  /** What the store wrote into the log. */
  readonly lines: readonly LogLine[];
  /** What `onFatal` was told. */
  readonly fatal: unknown[];
}

export type TestStoreOptions = Partial<Omit<StoreOptions, "clock">> & {
  readonly clock?: FakeClock;
};

/**
 * A real store in a folder of its own, closed and removed when the test has ended. Without a path
 * the database is a copy: making its tables takes longer than most tests.
 */
export function openTestStore(options: TestStoreOptions = {}): TestStore {
  const path = options.path ?? newDatabase();
  const clock = options.clock ?? new FakeClock();
  const { log, lines } = memoryLog();
  const fatal: unknown[] = [];
  const store = openStore({
    log,
    onFatal: (error) => fatal.push(error),
    // Only a power cut could tell the difference.
    synchronous: "NORMAL",
    ...options,
    clock,
    path,
  });
  onTestFinished(() => store.close());
  return { store, path, clock, lines, fatal };
}

interface Template {
  readonly bytes: Buffer;
  readonly storeId: string;
}

let template: Template | undefined;

/** A database as it is when just made, with an identity of its own. */
export function newDatabase(): string {
  template ??= makeTemplate();
  const path = join(temporaryFolder(), "host.db");
  const bytes = Buffer.from(template.bytes);
  const id = newId("str");
  for (let at = -1; (at = bytes.indexOf(template.storeId, at + 1)) >= 0;) bytes.write(id, at);
  writeFileSync(path, bytes, { mode: 0o600 });
  return path;
}

/** Once per test file: a closed database is one file, whatever its tables are. */
function makeTemplate(): Template {
  const folder = mkdtempSync(join(tmpdir(), "template-"));
  try {
    const path = join(folder, "host.db");
    const store = openStore({
      path,
      clock: new FakeClock(),
      log: memoryLog().log,
      onFatal: () => undefined,
      synchronous: "NORMAL",
    });
    const { storeId } = store;
    store.close();
    return { bytes: readFileSync(path), storeId };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface TestHost extends TestStore {
  readonly host: HostContext;
  /** Lease time passes. */
  readonly leaseAdvance: (ms: number) => void;
  /** The same store as another host process sees it. */
  readonly nextEpoch: () => HostContext;
}

export const TEST_CLAIM_MS = 30_000;

/** A store with what the doors need beside it: epoch 1 and a lease clock that stands still. */
export function openTestHost(options: TestStoreOptions = {}): TestHost {
  const opened = openTestStore(options);
  let lease = 0;
  const host: HostContext = {
    store: opened.store,
    clock: opened.clock,
    epoch: 1,
    leaseNow: () => lease,
    settings: { claimMs: TEST_CLAIM_MS },
    log: memoryLog().log,
  };
  return {
    ...opened,
    host,
    leaseAdvance: (ms) => {
      lease += ms;
    },
    nextEpoch: () => ({ ...host, epoch: host.epoch + 1 }),
  };
}
