/**
 * Names one logical operation: (operation, scope, key) becomes the key of its record.
 * Computed once, before anything can change the event, and frozen.
 */
import { hash } from "node:crypto";
import { types } from "node:util";
import { IdempotencyKeyInvalidError, ScopeMissingError } from "./errors.ts";

export const MAX_KEY_LENGTH = 255;
export const MAX_OPERATION_LENGTH = 64;
export const MAX_SCOPE_LENGTH = 256;

/** What a template, `String()` or an authorizer in another language makes of a value that is not there. Others need no closer look. */
const SUSPECT = /undefined|null|NaN|None|<nil>|\[object |Invalid Date/;

/**
 * Such text as a whole, or as a whole part of what a template joined. Hyphens join names such as `dev-null` too, so that
 * after a hyphen only a last `undefined` counts.
 */
const NO_VALUE =
  /^\s*(None|<nil>)\s*$|(^|[\s/:#|,;=&])(undefined|null|NaN)($|[\s/:#|,;=&])|[-_.]undefined$|\[object [A-Z]\w*\]|Invalid Date/;

/** Standard base64 may have any word between two slashes. */
const BASE64 = /^[A-Za-z\d+/]{22,}={1,2}$/;

/** Whether text stands for a value that is not there, or holds one as a part: different things would share the text. */
export function lacksValue(text: string): boolean {
  return SUSPECT.test(text) && NO_VALUE.test(text) && !BASE64.test(text);
}

/** The scope of operations that belong to nobody. No verified caller can have it: a scope is never empty. */
export const PUBLIC_SCOPE = "";

export interface Identity {
  readonly operation: string;
  readonly scope: string;
  readonly key: string;
  /** `<operation>#<scope>#<hash>`: readable in front, so that IAM leading-key conditions can fence tenants. */
  readonly recordKey: string;
  /** The hash alone: names the key in logs and metrics without showing it. */
  readonly keyHash: string;
}

/**
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for a key that breaks a rule of `keyFault`, or does not
 * match `pattern`.
 * @throws ScopeMissingError (`SCOPE_MISSING`) for a scope that is too long, blank, or the text of an absent value:
 * different callers would share such a scope.
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

/** The parts of a record's key, as they were before they were escaped. */
export interface KeyNames {
  readonly operation: string;
  readonly scope: string;
  readonly keyHash: string;
}

/** A key that no operation of ours has made has an empty operation. */
export function namesOf(recordKey: string): KeyNames {
  try {
    const [operation = "", scope = "", keyHash = ""] = recordKey.split("#").map(decodeURIComponent);
    return { operation, scope, keyHash };
  } catch {
    return { operation: "", scope: "", keyHash: "" };
  }
}

/** What the keys of an operation's records begin with, and no others: IAM's leading keys say who may write them. */
export function recordKeyPrefix(operation: string): string {
  return `${escapePart(operation)}#`;
}

/** What is wrong with a key, or `undefined`. Never repeats the key itself. */
export function keyFault(key: unknown): string | undefined {
  const rule = `must be well-formed text of 1 to ${MAX_KEY_LENGTH} characters without control characters`;
  if (typeof key !== "string") return `${rule}; got ${kindOfKey(key)}`;
  if (key === "") return `${rule}; got empty text`;
  if (key.length > MAX_KEY_LENGTH) return `${rule}; got text of ${key.length} characters: take its SHA-256`;
  if (!key.isWellFormed()) return `${rule}; got text with a lone surrogate`;
  if (/\p{Cc}/u.test(key)) return `${rule}; got text with a control character, such as a line break: trim it`;
  return lacksValue(key)
    ? "has the text of a value that is not there as a part, such as `undefined`, `null` or `[object Object]`: have no key where a part is missing"
    : undefined;
}

/** The kind of a value that is no text, and what makes a key of it. */
function kindOfKey(value: unknown): string {
  if (isUnawaited(value)) return "a promise: a key is not awaited, so it must be there when it is read";
  if (typeof value === "number" || typeof value === "bigint")
    return `a ${typeof value}: make text of it, as by \`String(id)\``;
  if (typeof value === "function") return "a function: call it";
  if (typeof value !== "object" || value === null) return value == null ? `${value}` : `a ${typeof value}`;
  const kind = Array.isArray(value) ? "a list" : "an object";
  return `${kind}: join the fields that name the operation to one text, such as \`event.orderId\``;
}

/** Whether a value is a promise. Nobody awaits such a promise, and its failure must not end the process. */
export function isUnawaited(value: unknown): boolean {
  if (!types.isPromise(value)) return false;
  value.then(undefined, () => {});
  return true;
}

function patternFault(key: string, pattern: RegExp | undefined): string | undefined {
  return pattern?.test(key) === false ? "does not have the form that this operation asks for" : undefined;
}

/** What is wrong with a scope that a caller has, or `undefined`. Never repeats the scope itself. */
export function scopeFault(scope: unknown): string | undefined {
  const rule = `must be well-formed text of at most ${MAX_SCOPE_LENGTH} characters`;
  if (typeof scope !== "string") return `${rule}; got ${kindOfKey(scope)}`;
  if (scope.length > MAX_SCOPE_LENGTH || !scope.isWellFormed()) return rule;
  const isEmpty = lacksValue(scope) || !/[\p{L}\p{N}\p{P}\p{S}]/u.test(scope);
  return isEmpty ? "is blank or the text of a value that is not there, so it names no caller" : undefined;
}

/** Longer text is encoded faster by itself than by the hash. */
const SHORT_TEXT = 8192;

/**
 * SHA-256 of parts, each preceded by its length, so that no two tuples share an encoding. In one go: for what is hashed
 * here, a hash object that takes part by part costs three times as much.
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

/** `#` separates, `%` escapes; neither they nor control characters appear bare. */
function escapePart(part: string): string {
  return part.replace(/[#%\p{Cc}]/gu, encodeURIComponent);
}

/** The creation time (epoch ms) inside a UUIDv7 key (RFC 9562 section 5.7); `undefined` for other keys. */
export function keyCreatedAt(key: string): number | undefined {
  if (key.length !== 36 || key[14] !== "7") return undefined;
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(key);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : undefined;
}
