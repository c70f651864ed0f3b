/** At most one edge leaves a node. */
export type EdgeDefinition = { readonly from: string; readonly to: string } | SwitchEdgeDefinition;

export interface SwitchEdgeDefinition {
  readonly from: string;
  readonly switch: SwitchDefinition;
}

export interface SwitchDefinition {
  /** `$.field` or `$output.field`, `$result.outcome`, `$result.error.name`. */
  readonly on: string;
  /** Node by value; numbers and booleans are compared as text. */
  readonly cases?: Readonly<Record<string, string>>;
  readonly default?: string;
}
