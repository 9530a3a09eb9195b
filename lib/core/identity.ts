/**
 * Identifies one logical operation: (operation, scope, key) becomes the key of its record. Computed once, before anything can
 * change the event, and frozen.
 */
import { hash } from "node:crypto";
import { IdempotencyKeyInvalidError, ScopeMissingError } from "./errors.ts";
import { kindOf } from "./kind-of.ts";
import { isUnawaited } from "./unawaited.ts";

export const MAX_KEY_LENGTH = 255;
export const MAX_OPERATION_LENGTH = 64;
export const MAX_SCOPE_LENGTH = 256;

/**
 * Texts that a template, `String()` or an authorizer in another language makes of a missing value. Only these need a closer
 * look.
 */
const SUSPECT = /undefined|null|NaN|None|<nil>|\[object |Invalid Date/;

/**
 * Such text as a whole, or as a whole part of a joined template. Hyphens also join names such as `dev-null`, so after a hyphen
 * only a last `undefined` counts.
 */
const NO_VALUE =
  /^\s*(None|<nil>)\s*$|(^|[\s/:#|,;=&])(undefined|null|NaN)($|[\s/:#|,;=&])|[-_.]undefined$|\[object [A-Z]\w*\]|Invalid Date/;

/** Standard base64 may contain any word between two slashes. */
const BASE64 = /^[A-Za-z\d+/]{22,}={1,2}$/;

/** Whether text stands for a missing value, or contains one: different things would share the text. */
export function lacksValue(text: string): boolean {
  return SUSPECT.test(text) && NO_VALUE.test(text) && !BASE64.test(text);
}

/** The scope of public operations. No verified caller can have it: a caller's scope is never empty. */
export const PUBLIC_SCOPE = "";

export interface Identity {
  readonly operation: string;
  readonly scope: string;
  readonly key: string;
  /** `<operation>#<scope>#<hash>`: begins with readable parts, so that IAM leading-key conditions can fence tenants. */
  readonly recordKey: string;
  /** Only the hash: identifies the key in logs and metrics without showing it. */
  readonly keyHash: string;
}

/**
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for a key that breaks a rule of `keyFault`, or doesn't match
 * `pattern`.
 * @throws ScopeMissingError (`SCOPE_MISSING`) for a scope that is too long, blank, or the text of a missing value: different
 * callers would share such a scope.
 */
export function identify(operation: string, scope: string, key: string, pattern?: RegExp): Identity {
  const fault = keyFault(key) ?? patternFault(key, pattern);
  if (fault !== undefined) throw new IdempotencyKeyInvalidError(`the idempotency key ${fault}`);
  const scopeRefusal = scope === PUBLIC_SCOPE ? undefined : scopeFault(scope);
  if (scopeRefusal !== undefined) throw new ScopeMissingError(`the scope ${scopeRefusal}`);
  const keyHash = hashTuple("onceonly/key/1", operation, scope, key);
  const recordKey = `${recordKeyPrefix(operation)}${escapePart(scope)}#${keyHash}`;
  return Object.freeze({ operation, scope, key, recordKey, keyHash });
}

/** The unescaped parts of a record's key. */
export interface KeyNames {
  readonly operation: string;
  readonly scope: string;
  readonly keyHash: string;
}

/** The operation is empty if the key isn't one of ours. */
export function namesOf(recordKey: string): KeyNames {
  try {
    const [operation = "", scope = "", keyHash = ""] = recordKey.split("#").map(decodeURIComponent);
    return { operation, scope, keyHash };
  } catch {
    return { operation: "", scope: "", keyHash: "" };
  }
}

/** The prefix of exactly one operation's record keys: IAM's leading keys decide who may write them. */
export function recordKeyPrefix(operation: string): string {
  return `${escapePart(operation)}#`;
}

/** The fault of a key, or `undefined`. Never repeats the key itself. */
export function keyFault(key: unknown): string | undefined {
  const rule = `must be a string of 1 to ${MAX_KEY_LENGTH} characters without control characters`;
  if (typeof key !== "string") return `${rule} (got ${kindOfKey(key)})`;
  if (key === "") return `${rule} (got an empty string)`;
  if (key.length > MAX_KEY_LENGTH)
    return `${rule} (got a string of ${key.length} characters; use its SHA-256 instead)`;
  if (!key.isWellFormed()) return `${rule} (got a string with a lone surrogate)`;
  if (/\p{Cc}/u.test(key))
    return `${rule} (got a string with a control character, such as a line break; trim it)`;
  return lacksValue(key)
    ? 'contains the text of a missing value, such as "undefined", "null" or "[object Object]": return no key if a part is missing'
    : undefined;
}

/** The kind of a value that isn't text, and how to make a key from it. */
function kindOfKey(value: unknown): string {
  if (isUnawaited(value))
    return "a promise; keys aren't awaited, so the function must return the string itself";
  if (typeof value === "number" || typeof value === "bigint")
    return `a ${typeof value}; convert it, such as with \`String(id)\``;
  if (typeof value === "function") return "a function; call it";
  if (typeof value !== "object" || value === null) return value == null ? `${value}` : `a ${typeof value}`;
  const kind = Array.isArray(value) ? "an array" : "an object";
  return `${kind}; join the fields that identify the operation into one string, such as \`event.orderId\``;
}

function patternFault(key: string, pattern: RegExp | undefined): string | undefined {
  return pattern?.test(key) === false ? "doesn't have the format that this operation requires" : undefined;
}

/** The fault of a caller's scope, or `undefined`. Never repeats the scope itself. */
export function scopeFault(scope: unknown): string | undefined {
  const rule = `must be a string of at most ${MAX_SCOPE_LENGTH} characters`;
  // A promise gets a handler first, so that its rejection doesn't end the process.
  if (
    isUnawaited(scope) ||
    typeof scope !== "string" ||
    scope.length > MAX_SCOPE_LENGTH ||
    !scope.isWellFormed()
  )
    return `${rule} (got ${kindOf(scope)})`;
  const isEmpty = lacksValue(scope) || !/[\p{L}\p{N}\p{P}\p{S}]/u.test(scope);
  return isEmpty
    ? 'is blank or the text of a missing value such as "undefined", so it doesn\'t identify a caller'
    : undefined;
}

/** Longer text is encoded faster on its own than by the hash. */
const SHORT_TEXT = 8192;

/**
 * SHA-256 of parts, each preceded by its length, so that no two tuples share an encoding. Hashed in one call: for these sizes,
 * a hash object with one update per part costs three times as much.
 */
export function hashTuple(...parts: readonly (string | Uint8Array)[]): string {
  if (parts.every((part) => typeof part === "string" && part.length < SHORT_TEXT)) {
    let text = "";
    for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`;
    return hash("sha256", text, "base64url");
  }
  const bytes = parts.flatMap((part) => {
    const content = typeof part === "string" ? Buffer.from(part) : part;
    return [Buffer.from(`${content.byteLength}:`), content];
  });
  return hash("sha256", Buffer.concat(bytes), "base64url");
}

/** `#` separates, `%` escapes; these and control characters are always escaped. */
function escapePart(part: string): string {
  return part.replace(/[#%\p{Cc}]/gu, encodeURIComponent);
}

/** The creation time (epoch ms) inside a UUIDv7 key (RFC 9562 section 5.7); `undefined` for other keys. */
export function keyCreatedAt(key: string): number | undefined {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(key);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : undefined;
}
