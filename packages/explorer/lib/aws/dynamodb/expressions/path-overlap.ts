/**
 * Rejects two paths of one expression that overlap: one inside the other, or one that treats a map as a list.
 */
import type { DynamoDBError } from "../dynamodb-error.ts";
import type { DocumentPath } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

export function checkPathsAreApart(stream: TokenStream, paths: readonly DocumentPath[]): void {
  paths.forEach((second, index) => {
    for (const first of paths.slice(0, index)) checkPair(stream, first, second);
  });
}

function checkPair(stream: TokenStream, first: DocumentPath, second: DocumentPath): void {
  const common = Math.min(first.length, second.length);
  for (let index = 0; index < common; index++) {
    if (first[index] === second[index]) continue;
    if (typeof first[index] !== typeof second[index]) throw collision(stream, "conflict", first, second);
    return;
  }
  throw collision(stream, "overlap", first, second);
}

function collision(
  stream: TokenStream,
  how: string,
  first: DocumentPath,
  second: DocumentPath,
): DynamoDBError {
  return stream.error(
    `Two document paths ${how} with each other; must remove or rewrite one of these paths; path one: ${textOf(first)}, path two: ${textOf(second)}`,
  );
}

function textOf(path: DocumentPath): string {
  return `[${path.map((element) => (typeof element === "number" ? `[${element}]` : element)).join(", ")}]`;
}
