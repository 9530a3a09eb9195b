/** Creates and checks the idempotency key, and writes it as a header. */
import { InvalidOptionError } from "./errors.ts";
import { kindOf } from "./options.ts";
import type { ClientRuntime } from "./runtime.ts";

export const KEY_HEADER = "Idempotency-Key";
const MAX_KEY_LENGTH = 255;

/** A UUIDv7 (RFC 9562, section 5.7): its first 48 bits are the time, so that a server can tell how old a key is. */
export function makeKey(runtime: Pick<ClientRuntime, "now" | "randomBytes">): string {
  const randomBytes = runtime.randomBytes(10);
  const time = Math.floor(runtime.now()).toString(16).padStart(12, "0");
  const random = Array.from(randomBytes.subarray(0, 9), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  const variant = "89ab"[randomBytes[9]! & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(3, 6)}-${random.slice(6)}`;
}

/** @throws InvalidOptionError (`INVALID_OPTION`), which says what is wrong without repeating the key */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key === "string" && key.length <= MAX_KEY_LENGTH && /^[ -~]+$/.test(key)) return;
  const other = typeof key === "string" ? key.search(/[^ -~]/) : -1;
  throw new InvalidOptionError(
    "key",
    `must be a string of 1 to ${MAX_KEY_LENGTH} printable ASCII characters`,
    other < 0 ? kindOf(key) : `another character at index ${other}`,
  );
}

/** The key as an RFC 9651 string. */
export function keyHeaderValue(key: string): string {
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}
