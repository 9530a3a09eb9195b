/** Document paths and values: `a.b[0].#c` and `:v`. */
import type { AttributeValue } from "../values/attribute-value.ts";
import { isReservedWord } from "./reserved-words.ts";
import type { DocumentPath } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

export function parsePath(stream: TokenStream): DocumentPath {
  const path: (string | number)[] = [parseName(stream)];
  for (;;) {
    if (stream.takesSymbol(".")) path.push(parseName(stream));
    else if (stream.takesSymbol("[")) {
      path.push(Number(stream.takeOf("index")));
      stream.expectSymbol("]");
    } else return path;
  }
}

/** The value of the next placeholder. */
export function parseValue(stream: TokenStream): AttributeValue {
  const key = stream.takeOf("value");
  const value = stream.placeholders.value(key);
  if (value !== undefined) return value;
  throw stream.error(
    `An expression attribute value used in expression is not defined; attribute value: ${key}`,
  );
}

export function isStartOfPath(stream: TokenStream): boolean {
  return stream.next.kind === "word" || stream.next.kind === "name";
}

function parseName(stream: TokenStream): string {
  if (stream.next.kind === "name") {
    const key = stream.take().text;
    const name = stream.placeholders.name(key);
    if (name !== undefined) return name;
    throw stream.error(
      `An expression attribute name used in the document path is not defined; attribute name: ${key}`,
    );
  }
  const name = stream.takeOf("word");
  if (isReservedWord(name)) {
    throw stream.error(`Attribute name is a reserved keyword; reserved keyword: ${name}`);
  }
  return name;
}
