/** Projections: which attributes, and which parts of them, a read returns. */
import { type AttributeValue, attributeOf, type Item } from "../values/attribute-value.ts";
import { parsePath } from "./parse-path.ts";
import { checkPathsAreApart } from "./path-overlap.ts";
import type { DocumentPath } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

export type Projection = readonly DocumentPath[];

export function parseProjection(stream: TokenStream): Projection {
  const paths: DocumentPath[] = [];
  do paths.push(parsePath(stream));
  while (stream.takesSymbol(","));
  checkPathsAreApart(stream, paths);
  return paths;
}

/** Keeps the order and the nesting; the remaining elements of a list move together. */
export function project(item: Item, projection: Projection): Item {
  return part({ M: item }, projection)?.M ?? {};
}

function part(value: { readonly M: Item }, paths: Projection): { readonly M: Item } | undefined;
function part(value: AttributeValue, paths: Projection): AttributeValue | undefined;
function part(value: AttributeValue, paths: Projection): AttributeValue | undefined {
  if (paths.some(({ length }) => length === 0)) return value;
  const heads = new Map<string | number, DocumentPath[]>();
  for (const [head = "", ...rest] of paths) heads.set(head, [...(heads.get(head) ?? []), rest]);
  if ("M" in value) {
    const entries = [...heads].flatMap(([name, rest]) => {
      const child = typeof name === "string" ? attributeOf(value.M, name) : undefined;
      const kept = child && part(child, rest);
      return kept === undefined ? [] : [[name, kept] as const];
    });
    return entries.length === 0 ? undefined : { M: Object.fromEntries(entries) };
  }
  if ("L" in value) {
    const kept = value.L.flatMap((child, index) => {
      const rest = heads.get(index);
      return (rest && part(child, rest)) ?? [];
    });
    return kept.length === 0 ? undefined : { L: kept };
  }
  return undefined;
}
