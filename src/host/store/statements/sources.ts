import { HostError } from "../../errors.ts";
import type { SourceRecord } from "../../records.ts";
import type { Reader, Tx } from "../tx.ts";
import type { Connection } from "./connection.ts";
import { plain, Table } from "./table.ts";
import type { BlobWriter } from "./values.ts";

const sources = new Table<SourceRecord>("run_sources", {
  path: plain("path"),
  kind: plain("kind"),
  digest: plain("digest"),
  size: plain("size"),
  packageName: plain("package_name"),
  packageVersion: plain("package_version"),
});

/** `run_sources`, reading. */
export function sourceReader(connection: Connection): Reader["sources"] {
  return { ofRun: connection.many(sources, "WHERE run_id = ? ORDER BY path") };
}

/** `run_sources`, writing: the newest report of a path replaces the one before. */
export function sourceWriter(
  connection: Connection,
  blobs: BlobWriter,
): Pick<Tx["put"], "source" | "dropSources"> {
  const insert = connection.insert(
    sources,
    `ON CONFLICT (run_id, path) DO UPDATE SET kind = excluded.kind, digest = excluded.digest,
       size = excluded.size, package_name = excluded.package_name,
       package_version = excluded.package_version`,
  );
  return {
    source(runId, { content, ...source }) {
      if (content !== undefined && blobs.blob(content) !== source.digest) {
        // A worker said both: what it says is refused, and nothing of ours is wrong.
        const problem = `the content of ${source.path} has another digest than reported`;
        throw new HostError("REQUEST_INVALID", problem);
      }
      insert(source, { run_id: runId });
    },
    dropSources: connection.change("DELETE FROM run_sources WHERE run_id = ?"),
  };
}
