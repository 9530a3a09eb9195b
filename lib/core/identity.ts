/**
 * Names one logical operation: (operation, scope, key) becomes the key of its record.
 * Computed once, before anything can change the event, and frozen.
 */
import { hash } from "node:crypto";
import { IdempotencyKeyInvalidError, ScopeMissingError } from "./errors.ts";

export const MAX_KEY_LENGTH = 255;
export const MAX_OPERATION_LENGTH = 64;
export const MAX_SCOPE_LENGTH = 256;

/** A template, `String()` or an authorizer in another language turns an absent value, or an object, into such text. */
export const NO_VALUE = /^\s*(undefined|null|NaN|None|<nil>)\s*$|\[object [A-Z]\w*\]/;

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
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for a key that is empty, longer than
 * 255 characters, holds control characters or does not match `pattern`.
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

/** What the keys of an operation's records begin with, and no others: IAM's leading keys say who may write them. */
export function recordKeyPrefix(operation: string): string {
  return `${escapePart(operation)}#`;
}

/** What is wrong with a key, or `undefined`. Never repeats the key itself. */
export function keyFault(key: unknown): string | undefined {
  const usable = typeof key === "string" && key !== "" && key.length <= MAX_KEY_LENGTH && key.isWellFormed();
  if (usable && !/\p{Cc}/u.test(key)) return undefined;
  return `must be well-formed text of 1 to ${MAX_KEY_LENGTH} characters without control characters`;
}

function patternFault(key: string, pattern: RegExp | undefined): string | undefined {
  return pattern?.test(key) === false ? "does not have the form that this operation asks for" : undefined;
}

/** What is wrong with a scope that a caller has, or `undefined`. Never repeats the scope itself. */
export function scopeFault(scope: unknown): string | undefined {
  if (typeof scope !== "string" || scope.length > MAX_SCOPE_LENGTH || !scope.isWellFormed()) {
    return `must be well-formed text of at most ${MAX_SCOPE_LENGTH} characters`;
  }
  const isEmpty = NO_VALUE.test(scope) || !/[\p{L}\p{N}\p{P}\p{S}]/u.test(scope);
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
