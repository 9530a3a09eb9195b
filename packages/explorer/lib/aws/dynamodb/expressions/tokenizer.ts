/** Cuts an expression into its smallest parts. */

export interface Token {
  readonly kind: "word" | "name" | "value" | "index" | "symbol" | "unknown" | "end";
  readonly text: string;
}

const KINDS: readonly (readonly [Token["kind"], RegExp])[] = [
  ["word", /[A-Za-z][A-Za-z0-9_]*/y],
  ["name", /#[A-Za-z0-9_]+/y],
  ["value", /:[A-Za-z0-9_]+/y],
  ["index", /0|[1-9][0-9]*/y],
  ["symbol", /<>|<=|>=|[=<>()[\],.+-]/y],
];

const SPACE = /\s*/y;

/** The last token has the kind "end"; unknown text becomes a token of the kind "unknown". */
export function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let position = endOf(SPACE, expression, 0) ?? 0;
  while (position < expression.length) {
    const [kind, end] = nextToken(expression, position);
    tokens.push({ kind, text: expression.slice(position, end) });
    position = endOf(SPACE, expression, end) ?? end;
  }
  return [...tokens, { kind: "end", text: "<EOF>" }];
}

function nextToken(expression: string, position: number): readonly [Token["kind"], number] {
  for (const [kind, pattern] of KINDS) {
    const end = endOf(pattern, expression, position);
    if (end !== undefined) return [kind, end];
  }
  return ["unknown", position + 1];
}

function endOf(pattern: RegExp, text: string, position: number): number | undefined {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
