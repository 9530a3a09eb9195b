/** The Idempotency-Key header: an RFC 8941 string, or a bare value that stands for the same key. */
import { IdempotencyKeyInvalidError } from "../../core/errors.ts";

/**
 * One value, with the comma before the next. A string in quotes comes with its parameters, which are skipped; a
 * bare value is visible ASCII without quotes, commas and semicolons.
 */
const VALUE =
  /[ \t]*(?:"((?:[ !#-[\]-~]|\\["\\])*)"(?:; *[a-z*][a-z\d_.*-]*(?:=(?:"(?:[ !#-[\]-~]|\\["\\])*"|[\w!#$%&'*+.^`|~:/?-]+))?)*|([!#-+\--:<-~]+))[ \t]*(?:,(?=.)|$)/gy;

/**
 * The one key that all lines of the header name; `undefined` when there is no such header.
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for malformed lines, or two different keys.
 */
export function parseKeyHeader(lines: readonly string[], strict = false): string | undefined {
  const keys = new Set<string>();
  // Gateways join several lines of one header in the same way.
  const rest = lines.join().replace(VALUE, (value: string, quoted: string | undefined, bare: string) => {
    if (strict && bare) return value;
    keys.add(quoted?.replace(/\\(.)/g, "$1") ?? bare);
    return "";
  });
  const [key, ...others] = keys;
  if (rest || (key === undefined && lines.length > 0))
    throw new IdempotencyKeyInvalidError("malformed idempotency key: send a string in double quotes");
  if (others.length > 0) throw new IdempotencyKeyInvalidError("two different idempotency keys: send one");
  return key;
}
