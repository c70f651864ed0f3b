import { MODULUS } from "./modulus.ts";

/** One step of a chain. Whoever knows the input can say what must come out. */
export function mix(value: number, step: number): number {
  return (value * 31 + step) % MODULUS;
}

export function mixAll(value: number, steps: number): number {
  let mixed = value;
  for (let step = 1; step <= steps; step += 1) mixed = mix(mixed, step);
  return mixed;
}
