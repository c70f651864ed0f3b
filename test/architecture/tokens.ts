/** A piece of TypeScript source with the line it begins on. */
export interface Token {
  readonly text: string;
  readonly line: number;
}

const COMMENT = String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`;
const STRING = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\`(?:\\[\s\S]|[^\`\\])*\``;
// A slash begins a pattern only where a value may begin; elsewhere it divides.
const PATTERN = String.raw`(?<=(?:[(,=:[!&|?{};>]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*`;
const WORD = String.raw`[A-Za-z_$#][\w$]*|\d[\w.]*`;
const TOKEN = new RegExp(`${COMMENT}|${STRING}|${PATTERN}|${WORD}|\\S`, "g");

/** The tokens of a source text, without comments. Good enough to compare and to search. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    line += newlines(text.slice(from, match.index));
    from = match.index;
    if (!isComment(match[0])) tokens.push({ text: match[0], line });
  }
  return tokens;
}

export function isString(token: Token): boolean {
  return /^["'`]/.test(token.text);
}

function isComment(text: string): boolean {
  return text.startsWith("//") || text.startsWith("/*");
}

function newlines(text: string): number {
  return text.split("\n").length - 1;
}
