/** Where marks go. */
export interface Marked {
  readonly file: string;
}

export function marked(value: unknown): Marked {
  return value as Marked;
}
