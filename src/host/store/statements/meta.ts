import type { Reader } from "../tx.ts";
import type { Connection } from "./connection.ts";

/** `meta`, reading. */
export function metaReader(connection: Connection): Reader["meta"] {
  const read = connection.text("SELECT value FROM meta WHERE key = ?");
  return {
    storeId() {
      const id = read("store_id");
      if (id === undefined) throw new Error("the database has no store id");
      return id;
    },
  };
}
