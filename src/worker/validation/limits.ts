const KIB = 1024;

/** What a schema may cost: a longer one is compiled for longer than anybody waits. A worker holds up nobody else. */
export const SCHEMA_LIMITS = { bytesMax: 256 * KIB, checkMs: 2_000, root: "value" } as const;

/** A little less than the host allows, so that the answer says what took so long. */
export const VALIDATION_MS = 25_000;

/** What a model is told of why its result is none. */
export const REJECTION_CHARS_MAX = 8_000;
