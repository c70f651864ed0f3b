/**
 * Keeps the connections that the code under test opens, which it shows to nobody:
 * a disk that is full is a property of a connection here.
 */
import Database from "better-sqlite3";

let last: Database.Database | undefined;
// It is called on each connection of its own, below.
// oxlint-disable-next-line typescript/unbound-method
const pragma = Database.prototype.pragma;

Database.prototype.pragma = function remembered(this: Database.Database, ...args): unknown {
  // oxlint-disable-next-line typescript/no-this-alias
  last = this;
  return pragma.apply(this, args);
};

/** The connection that was used last by a pragma: right after `openStore`, the store's. */
export function lastOpened(): Database.Database {
  if (last === undefined) throw new Error("nothing was opened");
  return last;
}
