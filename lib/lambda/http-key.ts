/** The Idempotency-Key header: an RFC 8941 string, or a bare value that stands for the same key. */
import { IdempotencyKeyInvalidError } from "../core/errors.ts";

/** With its parameters, which are skipped. */
const STRING =
  /"((?:[ !#-[\]-~]|\\["\\])*)"(?:; *[a-z*][a-z\d_.*-]*(?:=(?:"(?:[ !#-[\]-~]|\\["\\])*"|[\w!#$%&'*+.^`|~:/?-]+))?)*/y;
/** Visible ASCII without quotes, commas and semicolons. */
const BARE = /([!#-+\--:<-~]+)/y;
/** Gateways join several lines of one header into one value. */
const COMMA = /[ \t]*,[ \t]*/y;

/**
 * The one key that all lines of the header name; `undefined` when there is no such header.
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for malformed lines, or two different keys.
 */
export function parseKeyHeader(lines: readonly string[], strict: boolean): string | undefined {
  const [key, ...others] = new Set(lines.flatMap((line) => parseLine(line.trim(), strict)));
  if (others.length > 0) {
    throw new IdempotencyKeyInvalidError("the request carries two different idempotency keys: send one");
  }
  return key;
}

function parseLine(line: string, strict: boolean): string[] {
  const keys: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(line);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  do {
    const quoted = take(STRING)?.[1]?.replace(/\\(.)/g, "$1");
    const key = quoted ?? (strict ? undefined : take(BARE)?.[1]);
    if (key === undefined) throw malformed();
    keys.push(key);
  } while (take(COMMA) !== null);
  if (at < line.length) throw malformed();
  return keys;
}

function malformed(): IdempotencyKeyInvalidError {
  return new IdempotencyKeyInvalidError(
    "the idempotency key header is malformed: send a string in double quotes",
  );
}
