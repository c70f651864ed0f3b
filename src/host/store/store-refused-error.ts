/** Why a database is not opened. */
export type StoreRefusal = "foreign" | "other_schema" | "damaged" | "unreadable";

/**
 * A database that the host will not touch. It is left as it was found, byte for
 * byte; the message says what it is, how to keep a copy and how to begin anew.
 */
export class StoreRefusedError extends Error {
  override readonly name = "StoreRefusedError";
  readonly refusal: StoreRefusal;
  readonly path: string;

  constructor(refusal: StoreRefusal, path: string, what: string, cause?: unknown) {
    super(
      `${path} ${what}. Nothing was changed. ` +
        `To keep it, stop every host and copy ${path}, ${path}-wal and ${path}-shm (those that exist) elsewhere; ` +
        `to start with an empty store, move the three files away and start the host again.`,
      { cause },
    );
    this.refusal = refusal;
    this.path = path;
  }
}
