/** What happens to the files of a host: no room, and other programs that hold them. */
import { join } from "node:path";
import Database from "better-sqlite3";
import type { SimHost } from "./sim-host.ts";
import { DATABASE } from "./state-image.ts";

const PAGES_MAX = 2 ** 30;

export class Disk {
  #locker: Database.Database | undefined;

  /** There is no room for another page, or there is again. */
  fill(host: SimHost | undefined, isFull: boolean): void {
    if (host === undefined || host.dead) return;
    const pages = isFull ? Number(host.db.pragma("page_count", { simple: true })) : PAGES_MAX;
    host.db.pragma(`max_page_count = ${pages}`);
  }

  /** Another program holds the database. */
  lock(host: SimHost | undefined): void {
    this.unlock();
    if (host === undefined) return;
    const locker = new Database(join(host.folder, DATABASE), { timeout: 0 });
    try {
      locker.exec("BEGIN IMMEDIATE");
      this.#locker = locker;
    } catch {
      locker.close();
    }
  }

  unlock(): void {
    this.#locker?.close();
    this.#locker = undefined;
  }
}
