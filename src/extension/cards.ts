/** How our messages look in the transcript. A failure here falls back to Pi's own rendering. */
import type { ExtensionAPI, MessageRenderer } from "@earendil-works/pi-coding-agent";
import { Box, Text } from "@earendil-works/pi-tui";
import { cardLines } from "./card-lines.ts";
import { paintLine } from "./run-words.ts";
import { MESSAGE_TYPE, readDetails } from "./message-details.ts";

type Message = Parameters<MessageRenderer>[0];

/** Registers the cards of steps, human decisions, notifications and results. */
export function registerCards(pi: Pick<ExtensionAPI, "registerMessageRenderer">): void {
  pi.registerMessageRenderer(MESSAGE_TYPE, renderCard);
}

export const renderCard: MessageRenderer = (message, options, theme) => {
  const details = readDetails(message.details);
  if (details === undefined) return undefined;
  const { expanded, outputPad } = options;
  const text = textOf(message.content);
  const lines = cardLines(details, text, expanded);
  const hint = expanded ? "" : options.keyHint("app.tools.expand", "to expand");
  const box = new Box(outputPad, 1, (line) => theme.bg("customMessageBg", line));
  const painted = lines.map((line, index) => {
    const isHead = index === 0 && hint !== "";
    return isHead
      ? `${paintLine(line, theme)} ${theme.fg("dim", `(${hint})`)}`
      : paintLine(line, theme);
  });
  box.addChild(new Text(painted.join("\n"), 0, 0));
  return box;
};

function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
