/** A prime, so that no step of a chain falls back to where another was. */
export const MODULUS = 1_000_003;
