/** Loaded when the last step runs: a source the run gains on its way. */
export const late = (value: number): string => `mixed ${value}`;
