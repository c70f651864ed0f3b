import type { UnknownOutputs } from "./context.ts";
import { brand } from "./node-options.ts";
import type { Branded, NodeOptions, Stated } from "./node-options.ts";

/** News on the way, or the last word of a run. */
export type NoticeKind = "progress" | "final";

interface NoticeOptions<Input, Outputs> extends NodeOptions<Input, Outputs> {
  /** Plain text for the session the run came from, at most 16,000 characters. */
  readonly message: Stated<Input, Outputs, string>;
}

export interface NotifyOptions<Input, Outputs> extends NoticeOptions<Input, Outputs> {
  /** `progress` if not given. */
  readonly kind?: NoticeKind;
}

/** The author's `kind` is kept as `notice`, because `kind` is that of the node. */
export type NotifyNode<Input = unknown, Outputs = UnknownOutputs> = Branded<"notify"> &
  NoticeOptions<Input, Outputs> & { readonly notice: NoticeKind };

/** The output of a notify node. */
export interface Notice {
  readonly message: string;
  readonly kind: NoticeKind;
}

/** Tells the session the run came from. Starts no turn of the model, and is never sent twice. */
export function notify<Input = unknown, Outputs = UnknownOutputs>(
  options: NotifyOptions<Input, Outputs>,
): NotifyNode<Input, Outputs> {
  const { kind: notice = "progress", ...rest } = options;
  return brand("notify", { ...rest, notice });
}
