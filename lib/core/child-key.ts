/** Keys for the systems an operation calls: the same for every attempt of one operation. */
import { InvalidOptionError } from "./errors.ts";
import { hashTuple, type Identity } from "./identity.ts";
import { suggestion } from "./nearest.ts";
import { text } from "./option-checks.ts";

export interface ChildKeyLimits {
  /**
   * The longest key that the other system accepts.
   * @default - all 256 bits: 43 characters, or 64 in hexadecimal
   */
  readonly maxLength?: number;
  /**
   * `text` is base64url (letters, digits, `-`, `_`); `hex` has only the digits 0 to 9 and letters a to f.
   * @default "text"
   */
  readonly format?: "text" | "hex";
}

/** Shorter keys have fewer than 128 bits, and could collide. */
const SHORTEST = { text: 22, hex: 32 } as const;

/** @throws InvalidOptionError (`INVALID_OPTION`) if the limits leave less than 128 bits. */
export function deriveChildKey(
  { recordKey }: Pick<Identity, "recordKey">,
  name: string,
  limits: ChildKeyLimits = {},
): string {
  if (Object(limits) !== limits)
    throw new InvalidOptionError("limits", "of `childKey` must be an object { maxLength, format }", limits);
  const { format = "text", maxLength = 64, ...unknown } = limits;
  const [other] = Object.keys(unknown);
  if (other) {
    const valid = suggestion(other, ["maxLength", "format"], "valid options");
    throw new InvalidOptionError(other, `isn't an option of \`childKey\` ${valid}`);
  }
  const shortest = Object.hasOwn(SHORTEST, format) ? SHORTEST[format] : 0;
  const [rule, holds] = text(255);
  if (!holds(name)) throw new InvalidOptionError("name", `of a child key ${rule}`, name);
  if (!shortest) throw new InvalidOptionError("format", 'must be "text" or "hex"', format);
  if (typeof maxLength !== "number" || !(maxLength >= shortest))
    throw new InvalidOptionError(
      "maxLength",
      `must be a number of at least ${shortest}, so that keys can't collide`,
      maxLength,
    );
  const hash = hashTuple("onceonly/child/1", recordKey, name);
  const key = format === "hex" ? Buffer.from(hash, "base64url").toString("hex") : hash;
  return key.slice(0, maxLength);
}
