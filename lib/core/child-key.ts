/** Keys for the systems an operation calls: the same for every attempt of one operation. */
import { createHash } from "node:crypto";
import { InvalidOptionError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import { hashTuple } from "./identity.ts";

export interface ChildKeyLimits {
  /**
   * The longest key the other system takes.
   * @default 43
   */
  readonly maxLength?: number;
  /**
   * `text` is base64url (letters, digits, `-`, `_`), `hex` is lower-case, `uuid` has the form of a UUIDv8 (RFC 9562).
   * @default "text"
   */
  readonly format?: "text" | "hex" | "uuid";
}

/** Fewer characters than this hold fewer than 128 bits, and keys could collide. */
const SHORTEST = { text: 22, hex: 32, uuid: 36 } as const;

/** @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits. */
export function deriveChildKey(identity: Identity, name: string, limits: ChildKeyLimits = {}): string {
  if (typeof name !== "string" || name.length === 0) {
    throw new InvalidOptionError("name", "must be a non-empty string", name);
  }
  const format = limits.format ?? "text";
  const maxLength = limits.maxLength ?? 43;
  if (!Object.hasOwn(SHORTEST, format))
    throw new InvalidOptionError("format", 'must be "text", "hex" or "uuid"', format);
  if (!(maxLength >= SHORTEST[format])) {
    throw new InvalidOptionError(
      "maxLength",
      `must be at least ${SHORTEST[format]} for ${format} keys`,
      maxLength,
    );
  }
  const hash = hashTuple("onceonly/child/1", identity.recordKey, name);
  if (format === "text") return hash.slice(0, maxLength);
  const hex = createHash("sha256").update(hash).digest("hex");
  if (format === "hex") return hex.slice(0, maxLength);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
