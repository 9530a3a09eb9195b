/** What JSON can hold faithfully. One walk, without recursion, serves fingerprints and results. */

/** Deeper values are refused: the encoders below recurse, and V8's stack ends near depth 5,000. */
export const MAX_JSON_DEPTH = 500;

export interface Unfaithful {
  /** Where, in the form `$.items[2].price`: names only, no values. */
  readonly path: string;
  readonly why: string;
}

interface Rules {
  /** Integers beyond ±(2^53−1) may already have lost digits: they make two payloads one. */
  readonly exactIntegers?: boolean;
  /** RFC 8785 section 3.2.2.2: lone surrogates have no canonical form. */
  readonly wellFormedStrings?: boolean;
}

/** Finds the first thing in `value` that JSON would drop, change or fail on; `undefined` when there is none. */
export function findUnfaithful(value: unknown, rules: Rules = {}): Unfaithful | undefined {
  const open: { value: unknown; path: string; ancestors: Ancestors }[] = [
    { value, path: "$", ancestors: undefined },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path, ancestors } = next;
    if (typeof value !== "object" || value === null) {
      const why = primitiveFault(value, rules);
      if (why !== undefined) return { path, why };
      continue;
    }
    const why = containerFault(value, ancestors);
    if (why !== undefined) return { path, why };
    const inner = { holder: value, outer: ancestors, depth: (ancestors?.depth ?? 0) + 1 };
    for (const key of Object.keys(value)) {
      const child = (value as Record<string, unknown>)[key];
      const childPath = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
      if (!Array.isArray(value)) {
        if (child === undefined) continue;
        if (rules.wellFormedStrings && !isWellFormed(key))
          return { path, why: "a name with a lone surrogate" };
      }
      open.push({ value: child, path: childPath, ancestors: inner });
    }
  }
  return undefined;
}

type Ancestors = { holder: object; outer: Ancestors; depth: number } | undefined;

function primitiveFault(value: unknown, rules: Rules): string | undefined {
  switch (typeof value) {
    case "boolean":
      return undefined;
    case "string":
      return rules.wellFormedStrings && !isWellFormed(value) ? "a string with a lone surrogate" : undefined;
    case "number":
      if (!Number.isFinite(value)) return `${value}, which JSON turns into null`;
      return rules.exactIntegers && Number.isInteger(value) && !Number.isSafeInteger(value)
        ? "an integer beyond ±(2^53−1), which may already have lost digits: send it as a string"
        : undefined;
    case "object":
      return undefined;
    default:
      return value === undefined
        ? "undefined, which JSON cannot hold"
        : `a ${typeof value}, which JSON cannot hold`;
  }
}

function containerFault(value: object, ancestors: Ancestors): string | undefined {
  for (let above = ancestors; above !== undefined; above = above.outer) {
    if (above.holder === value) return "a reference to itself";
  }
  if ((ancestors?.depth ?? 0) >= MAX_JSON_DEPTH) return `a value nested deeper than ${MAX_JSON_DEPTH}`;
  if (Array.isArray(value)) {
    return Object.keys(value).length === value.length ? undefined : "an array with holes or named properties";
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return `a ${value.constructor?.name || "class instance"}, which JSON would change: convert it first`;
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return "an object with toJSON, which JSON would change";
  return Object.getOwnPropertySymbols(value).length > 0 ? "a symbol as a name, which JSON drops" : undefined;
}

/** False for text with a lone surrogate: UTF-8 cannot tell two such texts apart. */
export function isWellFormed(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}
