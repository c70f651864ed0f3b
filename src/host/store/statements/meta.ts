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

/** Notes in `meta` when the storage was last asked whether it takes a write. */
export function metaProbe(connection: Connection): (at: number) => void {
  const upsert = connection.change(
    `INSERT INTO meta (key, value) VALUES ('last_probe', ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  );
  return (at) => void upsert(String(at));
}
